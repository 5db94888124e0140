/*
 * sanitized.h - which sanitizer a test is built with: each is 0 or 1.
 */
#ifndef SANITIZED_H
#define SANITIZED_H

#ifdef __has_feature /* clang's way to say it */
#define SANITIZED_(what) __has_feature(what)
#else
#define SANITIZED_(what) 0
#endif

#if defined __SANITIZE_THREAD__ || SANITIZED_(thread_sanitizer)
#define THREAD_SANITIZED 1
#else
#define THREAD_SANITIZED 0
#endif

#if defined __SANITIZE_ADDRESS__ || SANITIZED_(address_sanitizer)
#define ADDRESS_SANITIZED 1
#else
#define ADDRESS_SANITIZED 0
#endif

#define SANITIZED (ADDRESS_SANITIZED || THREAD_SANITIZED)

#endif
