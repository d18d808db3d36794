/* standalone_driver.c -- replays files and folders of them through a harness, without libFuzzer. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static int replay_file(const char *path, long size) {
    FILE *file = fopen(path, "rb");
    /* Exactly as large as the file: a sanitizer sees the first byte behind it. */
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    size_t got = file != NULL && data != NULL ? fread(data, 1, (size_t)size, file) : 0;
    if (got == (size_t)size) LLVMFuzzerTestOneInput(data, got);
    free(data);
    if (file != NULL) fclose(file);
    if (got == (size_t)size) return 1;
    perror(path);
    exit(1);
}

static int replay(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) {
        perror(path);
        exit(1);
    }
    if (!S_ISDIR(status.st_mode)) return replay_file(path, (long)status.st_size);
    DIR *folder = opendir(path);
    int n = 0;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char inside[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        n += replay(inside);
    }
    if (folder != NULL) closedir(folder);
    return n;
}

int main(int argc, char **argv) {
    int n = 0;
    for (int i = 1; i < argc; i++) n += replay(argv[i]);
    printf("%d files replayed\n", n);
    return n > 0 ? 0 : 1;
}
