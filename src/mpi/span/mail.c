/*
 * mail.c - see mail.h.
 */
#include "mail.h"

#include "node/base/settings.h"
#include "node/temporary.h"

#include <stdlib.h>

#define PIECE ((size_t)256 << 10)
#define TAG 1

static MPI_Request *add(sw_mail_t *mail)
{
    if (!sw_grow(&mail->request, mail->count, &mail->room,
                 sizeof *mail->request)) {
        sw_say("out of memory in a collective");
        abort();
    }
    return &mail->request[mail->count++];
}

static void note(sw_mail_t *mail, int code)
{
    if (code != MPI_SUCCESS)
        mail->count--;
    if (mail->code == MPI_SUCCESS)
        mail->code = code;
}

void sw_mail_send_letter(sw_mail_t *mail, int node, const void *data,
                         size_t bytes)
{
    MPI_Request *request = add(mail);
    mail->bytes += bytes;
    note(mail, host.Isend(data, (int)bytes, MPI_BYTE, node, TAG, mail->s->lane,
                          request));
}

void sw_mail_send(sw_mail_t *mail, int node, const void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PIECE)
        sw_mail_send_letter(mail, node, (const char *)data + at,
                            sw_min(PIECE, bytes - at));
}

void sw_mail_receive(sw_mail_t *mail, int node, void *data, size_t bytes)
{
    mail->bytes += bytes;
    for (size_t at = 0; at < bytes; at += PIECE) {
        MPI_Request *request = add(mail);
        note(mail, host.Irecv((char *)data + at, (int)sw_min(PIECE, bytes - at),
                              MPI_BYTE, node, TAG, mail->s->lane, request));
    }
}

int sw_mail_finish(sw_mail_t *mail)
{
    int flag = mail->count == 0, code = MPI_SUCCESS;
    sw_await_t wait = sw_await_begin(mail->s, mail->bytes);
    while (!flag && code == MPI_SUCCESS) {
        code = host.Testall((int)mail->count, mail->request, &flag,
                            MPI_STATUSES_IGNORE);
        if (!flag && code == MPI_SUCCESS && !wait.lost && sw_await_rest(&wait))
            sw_await_abandon(&wait);
    }
    if (mail->code == MPI_SUCCESS)
        mail->code = code;
    int rc = wait.lost ? SW_BROKEN : sw_await_status(mail->s, mail->code);
    free(mail->request);
    *mail = (sw_mail_t){.s = mail->s};
    return rc;
}

void *sw_mail_open(sw_mail_t *mail, int node, size_t *bytes)
{
    int flag = 0, count = 0, code = MPI_SUCCESS;
    MPI_Message message;
    MPI_Status status;
    void *letter = NULL;
    sw_await_t wait = sw_await_begin(mail->s, 0);
    *bytes = 0;
    while (!flag && code == MPI_SUCCESS) {
        code = host.Improbe(node, TAG, mail->s->lane, &flag, &message, &status);
        if (!flag && code == MPI_SUCCESS && sw_await_rest(&wait)) {
            sw_await_abandon(&wait);
            return NULL;
        }
    }
    if (flag && code == MPI_SUCCESS) {
        host.Get_count(&status, MPI_BYTE, &count);
        *bytes = (size_t)count;
        letter = sw_temporary(*bytes);
        MPI_Request request;
        code = host.Imrecv(letter, count, MPI_BYTE, &message, &request);
        if (code == MPI_SUCCESS &&
            sw_span_await(mail->s, &request, code, *bytes) != SW_OK)
            code = MPI_ERR_OTHER;
    }
    if (mail->code == MPI_SUCCESS)
        mail->code = code;
    return letter;
}
