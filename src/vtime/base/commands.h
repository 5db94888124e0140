/*
 * commands.h - what straightway-whatif does, a file each. `argv` begins after
 * the command's name and ends with NULL; the exit status is returned.
 */
#ifndef SW_VTIME_BASE_COMMANDS_H
#define SW_VTIME_BASE_COMMANDS_H

int sw_replay_command(char **argv);  /* replay.c */
int sw_convert_command(char **argv); /* convert.c */
int sw_serve_command(char **argv);   /* serve.c */
int sw_check_command(char **argv);   /* check.c */

#endif
