/* Lets hidapi open a Unix socket as if it were a hidraw device.
 *
 * Preloaded (LD_PRELOAD) it answers two calls of hidapi: open() of a path that is a
 * socket connects to it, and the ioctl()s that tell a hidraw device give the report
 * descriptor of a six-axis mouse. Everything else, polling and reading reports among
 * it, is hidapi's own code on the kernel's own calls: one packet is one report.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hidraw.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const unsigned char DESCRIPTOR[] = {
    0x05, 0x01, 0x09, 0x08, 0xa1, 0x01, /* generic desktop, multi-axis controller */
    0xa1, 0x00, 0x85, 0x01,             /* report 1 */
    0x16, 0xa2, 0xfe, 0x26, 0x5e, 0x01, /* logical -350 ... 350 */
    0x09, 0x30, 0x09, 0x31, 0x09, 0x32, /* X, Y, Z */
    0x75, 0x10, 0x95, 0x03, 0x81, 0x06, /* 3 x 16 bits, relative */
    0xc0, 0xa1, 0x00, 0x85, 0x02,       /* report 2 */
    0x09, 0x33, 0x09, 0x34, 0x09, 0x35, /* Rx, Ry, Rz */
    0x75, 0x10, 0x95, 0x03, 0x81, 0x06, 0xc0,
    0xa1, 0x02, 0x85, 0x03, 0x05, 0x09, /* report 3: buttons */
    0x19, 0x01, 0x29, 0x10, 0x15, 0x00, 0x25, 0x01,
    0x75, 0x01, 0x95, 0x10, 0x81, 0x02, 0xc0, 0xc0,
};

static int is_socket(int fd) {
    struct stat told;
    return fstat(fd, &told) == 0 && S_ISSOCK(told.st_mode);
}

static int open_any(const char *name, const char *path, int flags, mode_t mode) {
    int (*real)(const char *, int, ...) =
        (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    struct stat told;
    if (stat(path, &told) != 0 || !S_ISSOCK(told.st_mode)) {
        return real(path, flags, mode);
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        errno = ENODEV;
        return -1;
    }
    return fd;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_any("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_any("open64", path, flags, mode);
}

int ioctl(int fd, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (_IOC_TYPE(request) == 'H' && is_socket(fd)) {
        if (request == HIDIOCGRDESCSIZE) {
            *(int *)argument = sizeof(DESCRIPTOR);
            return 0;
        }
        if (request == HIDIOCGRDESC) {
            struct hidraw_report_descriptor *told = argument;
            told->size = sizeof(DESCRIPTOR);
            memcpy(told->value, DESCRIPTOR, sizeof(DESCRIPTOR));
            return 0;
        }
        errno = ENOTTY;
        return -1;
    }
    int (*real)(int, unsigned long, ...) =
        (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    return real(fd, request, argument);
}
