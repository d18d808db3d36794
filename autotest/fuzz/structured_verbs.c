/* structured_verbs.c -- the verbs of refs on valid sets with something changed, in one process.
 *
 *     structured_verbs FIRST COUNT [FOLDER]
 *
 * Runs COUNT seeds from FIRST on: each writes a few sets (world.h) into FOLDER (a new one in
 * /dev/shm or /tmp), and runs a row of verbs on them and on what these write, some of it damaged.
 * A finding ends the program with the number of the seed and the verb that ran; the same number
 * runs it again, and the folder keeps the files. Checked besides what sanitizers see:
 *
 * - a failure has words on standard error, and the exit status is one of those that there are;
 * - convert to JSON that succeeds gives what diff finds equal;
 * - where index, combine, append, convert or split succeed, every array and attribute of the
 *   sources is in the output, or named on standard error.
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "lost.h"
#include "tool.h"
#include "world.h"

#define MAX_ARGUMENTS 24
#define MAX_FILES     24
#define MAX_SAID      (1 << 20)

/* The descriptor of findings. Symbolizers of sanitizers close low ones that they find in use. */
#define REPORT 200

/* Theirs, which UndefinedBehaviorSanitizer closes when its first report has it read its options. */
#define SANITIZER_REPORT 201

/* Seconds of processors that one seed may take, and of a clock, which goes on where others use the
 * processors. */
#define MAX_CPU_SECONDS 60
#define MAX_SECONDS     1800

typedef struct trial {
    world_dice dice;
    world world;
    char files[MAX_FILES][WORLD_NAME_SIZE]; /* sets, and what verbs wrote */
    bool is_damaged[MAX_FILES];
    size_t n_files;
    char arguments[MAX_ARGUMENTS][WORLD_NAME_SIZE];
    size_t n_arguments;
    bool selects; /* an option leaves something out on purpose */
} trial;

static uint64_t seed;
static char line[4096]; /* what runs */
static int output = -1; /* where both streams go while a verb runs */
static char said[MAX_SAID];
static uint64_t n_runs, n_succeeded;

/* -- findings ---------------------------------------------------------------------------------- */

static void describe(void) {
    char text[4400];
    const int size = snprintf(text, sizeof text, "%llu executions\nseed %llu: refs%s\n",
                              (unsigned long long)n_runs, (unsigned long long)seed, line);
    if (size > 0 && write(REPORT, text, (size_t)size) < 0) return;
}

static _Noreturn void find(const char *what) {
    char text[512];
    const int size = snprintf(text, sizeof text, "FINDING: %s\n", what);
    if (write(REPORT, text, (size_t)size) < 0) _exit(99);
    describe();
    if (write(REPORT, said, strnlen(said, 2000)) < 0) _exit(99);
    _exit(98);
}

/* Sanitizers end the program with abort (their options say so); the report of
 * UndefinedBehaviorSanitizer is in what the verb wrote. */
static void on_signal(int number) {
    static const char waited[] = "FINDING: a verb takes too long\n";
    const bool is_late = number == SIGALRM || number == SIGPROF;
    if (is_late && write(REPORT, waited, sizeof waited - 1) < 0) _exit(99);
    describe();
    const ssize_t size = pread(output, said, sizeof said - 1, 0);
    if (size > 0 && write(REPORT, said, (size_t)size) < 0) _exit(99);
    signal(number, SIG_DFL);
    raise(is_late ? SIGABRT : number);
}

/* Reports of sanitizers are no words of a verb. */
extern void __sanitizer_set_report_fd(void *descriptor) __attribute__((weak));

/* -- one verb ---------------------------------------------------------------------------------- */

static void add(trial *at, const char *argument) {
    if (at->n_arguments == MAX_ARGUMENTS) return;
    char *kept = at->arguments[at->n_arguments++];
    const size_t size = strnlen(argument, WORLD_NAME_SIZE - 1);
    memmove(kept, argument, size);
    kept[size] = '\0';
}

static void begin(trial *at, const char *verb) {
    at->n_arguments = 0;
    at->selects = false;
    add(at, verb);
}

static void read_said(void) {
    const ssize_t size = pread(output, said, sizeof said - 1, 0);
    said[size > 0 ? size : 0] = '\0';
}

static int run(trial *at) {
    char copies[MAX_ARGUMENTS][WORLD_NAME_SIZE], *argv[MAX_ARGUMENTS + 1];
    tool_arguments arguments = {0};
    int status = TOOL_USAGE;
    size_t size = 0;
    memcpy(copies, at->arguments, sizeof copies);
    for (size_t i = 0; i < at->n_arguments; i++) {
        argv[i] = copies[i];
        size += (size_t)snprintf(line + size, sizeof line - size, " %s", copies[i]);
    }
    argv[at->n_arguments] = NULL;
    const tool_verb *verb = tool_find_verb(argv[0]);
    if (verb == NULL) abort();
    fflush(stdout);
    if (ftruncate(output, 0) != 0 || lseek(output, 0, SEEK_SET) != 0) abort();
    if (tool_read_arguments(verb, (int)at->n_arguments - 1, argv + 1, &arguments))
        status = (int)verb->run(&arguments);
    tool_arguments_clear(&arguments);
    fflush(stdout);
    read_said();
    n_runs++;
    n_succeeded += status == TOOL_OK;
    if (status < 0 || status > TOOL_USAGE) find("the exit status is none of those that there are");
    if (status != TOOL_OK && said[0] == '\0') find("a failure without a word");
    return status;
}

/* -- nothing is lost --------------------------------------------------------------------------- */

static bool is_damaged(const trial *at, const char *name) {
    for (size_t i = 0; i < at->n_files; i++)
        if (strcmp(at->files[i], name) == 0) return at->is_damaged[i];
    return false;
}

static void find_lost(const trial *at, const lost_case *of) {
    char what[512];
    /* An outline has the shapes of fragments, and no values. */
    if (at->selects || is_damaged(at, of->source) || strstr(of->source, ".outline.") != NULL)
        return;
    if (lost_find(of, what, sizeof what)) find(what);
}

/* -- verbs ------------------------------------------------------------------------------------- */

static const char *any_file(trial *at) {
    return at->files[world_below(&at->dice, at->n_files)];
}

static void keep(trial *at, const char *name) {
    for (size_t i = 0; i < at->n_files; i++)
        if (strcmp(at->files[i], name) == 0) return;
    if (at->n_files < MAX_FILES) snprintf(at->files[at->n_files++], WORLD_NAME_SIZE, "%s", name);
}

/* Fragments are files, too. */
static void keep_fragments(trial *at) {
    DIR *folder = opendir("m");
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char name[WORLD_NAME_SIZE];
        const int size = snprintf(name, sizeof name, "m/%s", entry->d_name);
        if (entry->d_name[0] != '.' && size < WORLD_NAME_SIZE) keep(at, name);
        if (at->n_files > MAX_FILES - 6) break;
    }
    if (folder != NULL) closedir(folder);
}

static void add_output(trial *at) {
    static const char *const endings[] = {"json", "json", "parq", "nc", "nca", "json.zst"};
    char name[WORLD_NAME_SIZE];
    snprintf(name, sizeof name, "o%zu.%s", at->n_files,
             endings[world_below(&at->dice, sizeof endings / sizeof endings[0])]);
    add(at, "-o");
    add(at, name);
}

static void add_some(trial *at, const char *option, const char *value) {
    if (!world_once_in(&at->dice, 8)) return;
    add(at, option);
    if (value != NULL) add(at, value);
}

static void add_join_options(trial *at) {
    static const char *const selections[] = {"gust", "/g/gust", "lat,hail", "time", "nothing"};
    if (!world_once_in(&at->dice, 6)) {
        add(at, "--along");
        add(at, at->world.dimension);
    }
    add_some(at, "--strict", NULL);
    add_some(at, "--relative", NULL);
    add_some(at, "--objects", NULL);
    add_some(at, "--skip-errors", NULL);
    if (world_once_in(&at->dice, 6)) {
        add(at, "--inline");
        add(at, "100");
    }
    if (world_once_in(&at->dice, 10)) {
        add(at, "--variables");
        add(at, selections[world_below(&at->dice, sizeof selections / sizeof selections[0])]);
        at->selects = true;
    }
    if (world_once_in(&at->dice, 16)) {
        add(at, "--group");
        add(at, "g");
        at->selects = true;
    }
}

/* The argument behind -o. */
static const char *output_of(const trial *at) {
    for (size_t i = 0; i + 1 < at->n_arguments; i++)
        if (strcmp(at->arguments[i], "-o") == 0) return at->arguments[i + 1];
    return at->arguments[1];
}

/* Copies a file before a verb changes it; false where `name` is no file. */
static bool copy_file(const char *name, char copy[WORLD_NAME_SIZE]) {
    static char bytes[1 << 16];
    const char *ending = strchr(name, '.');
    struct stat status;
    snprintf(copy, WORLD_NAME_SIZE, "before%s", ending != NULL ? ending : "");
    if (stat(name, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    FILE *from = fopen(name, "rb"), *to = fopen(copy, "wb");
    bool is_copied = from != NULL && to != NULL;
    for (size_t n; is_copied && (n = fread(bytes, 1, sizeof bytes, from)) > 0;)
        is_copied = fwrite(bytes, 1, n, to) == n;
    if (from != NULL) fclose(from);
    if (to != NULL) is_copied = fclose(to) == 0 && is_copied;
    return is_copied;
}

/* Runs what was put together of `n` sources, the first behind the verb. */
static void run_checked(trial *at, size_t n) {
    char made[WORLD_NAME_SIZE], copy[WORLD_NAME_SIZE];
    const char *verb = at->arguments[0];
    const bool is_joined = strcmp(verb, "split") != 0 && strcmp(verb, "mv") != 0;
    snprintf(made, sizeof made, "%s", output_of(at));
    const bool is_changed = strcmp(at->arguments[1], made) == 0;
    const bool is_copied = is_changed && copy_file(made, copy);
    const char *sources[MAX_ARGUMENTS];
    bool is_any_damaged = false; /* a source may then have any fill value, units … */
    if (run(at) != TOOL_OK) return;
    lost_case of = {.result = made,
                    .said = said,
                    .dimension = is_joined ? at->world.dimension : NULL,
                    .others = sources,
                    .n_others = n,
                    .only_names = strcmp(verb, "mv") == 0,
                    .renames_fragments = strcmp(verb, "split") == 0};
    for (size_t i = 1; i <= n; i++) {
        const bool is_made = strcmp(at->arguments[i], made) == 0;
        sources[i - 1] = is_made && is_copied ? copy : at->arguments[i];
        is_any_damaged = is_any_damaged || is_damaged(at, at->arguments[i]);
    }
    const bool is_limited =
        is_changed && lost_selects(made); /* what is added, not what was there */
    /* What differs in a known source was named when that was added. */
    const bool is_known = strstr(said, " has it, unchanged") != NULL;
    for (size_t i = 1; i <= n && !is_any_damaged; i++) {
        of.source = sources[i - 1];
        const bool is_before = strcmp(at->arguments[i], made) == 0;
        if (is_before ? !is_copied : is_limited || is_known) continue;
        find_lost(at, &of);
    }
    keep(at, made);
}

static void join(trial *at, const char *verb) {
    size_t n = 0;
    begin(at, verb);
    if (world_once_in(&at->dice, 2)) {
        for (; n < at->world.n_parts; n++) add(at, at->world.names[n]);
    } else {
        for (n = 1 + (size_t)world_below(&at->dice, 3); at->n_arguments <= n;)
            add(at, any_file(at));
    }
    add_output(at);
    add_join_options(at);
    if (strcmp(verb, "combine") == 0 && world_once_in(&at->dice, 3)) {
        add(at, "--format");
        add(at, "cfa");
        add_some(at, "--common-date", "days since 1970-01-01");
    }
    run_checked(at, n);
}

static void append(trial *at) {
    begin(at, "append");
    add(at, any_file(at));
    add(at, any_file(at));
    add_join_options(at);
    run_checked(at, 2);
}

static void convert(trial *at) {
    begin(at, "convert");
    add(at, any_file(at));
    add_output(at);
    add_some(at, "--objects", NULL);
    add_some(at, "--set-version", "0");
    if (strstr(output_of(at), ".parq") != NULL) add_some(at, "--record-size", "3");
    char source[WORLD_NAME_SIZE], made[WORLD_NAME_SIZE];
    snprintf(source, sizeof source, "%s", at->arguments[1]);
    snprintf(made, sizeof made, "%s", output_of(at));
    if (run(at) != TOOL_OK) return;
    const bool is_warned = said[0] != '\0';
    const lost_case of = {.source = source, .result = made, .said = said};
    find_lost(at, &of);
    keep(at, made);
    const bool is_set = strstr(source, ".nc") == NULL && strstr(made, ".nc") == NULL;
    if (!is_set || is_warned || is_damaged(at, source) || lost_has_aggregations(source)) return;
    begin(at, "diff");
    add(at, source);
    add(at, made);
    /* Names of fragments are seen from where the result is. */
    const bool has_moved =
        run(at) != TOOL_OK && (strstr(said, "cfa_") != NULL || strstr(said, "_location") != NULL ||
                               strstr(said, "_uris") != NULL);
    if (said[0] != '\0' && !has_moved) find("what was converted is not the same");
}

static void split(trial *at) {
    static const char *const shapes[] = {"1", "time=1", "2,2", "lat=1,lon=2"};
    static const char *const versions[] = {"0.4", "0.5", "1.13"};
    begin(at, "split");
    add(at, any_file(at));
    add(at, "-o");
    add(at, world_once_in(&at->dice, 3) ? "m.nc" : "m.nca");
    add(at, "--cfa-version");
    add(at, versions[world_below(&at->dice, 3)]);
    if (world_once_in(&at->dice, 2)) {
        add(at, "--format");
        add(at, world_once_in(&at->dice, 2) ? "NETCDF3" : "NETCDF4");
    }
    if (world_once_in(&at->dice, 2)) {
        add(at, "--subarray-shape");
        add(at, shapes[world_below(&at->dice, sizeof shapes / sizeof shapes[0])]);
    }
    run_checked(at, 1);
    keep_fragments(at);
}

static void look(trial *at) {
    static const char *const verbs[] = {"ls", "info", "check", "cat", "diff", "info", "mv"};
    static const char *const keys[] = {"gust[0,0,0]", "/g/gust/.zattrs", "time/0", ".zgroup",
                                       "hail[0]"};
    const char *verb = verbs[world_below(&at->dice, sizeof verbs / sizeof verbs[0])];
    begin(at, verb);
    add(at, any_file(at));
    if (strcmp(verb, "cat") == 0)
        add(at, keys[world_below(&at->dice, sizeof keys / sizeof keys[0])]);
    if (strcmp(verb, "diff") == 0) add(at, any_file(at));
    if (strcmp(verb, "check") == 0)
        add_some(at, world_once_in(&at->dice, 2) ? "--deep" : "--sample=2", NULL);
    if (strcmp(verb, "mv") == 0) {
        add(at, "--prefix");
        add(at, world_once_in(&at->dice, 2) ? "m" : "a_much_longer_name_than_before");
        run_checked(at, 1);
        return;
    } else if (strcmp(verb, "cat") != 0) {
        add_some(at, "--json", NULL);
    }
    if (strcmp(verb, "info") == 0 && world_once_in(&at->dice, 3)) {
        add(at, "--partition");
        add(at, world_once_in(&at->dice, 2) ? "all" : "0,0");
    }
    run(at);
}

static void step(trial *at) {
    switch (world_below(&at->dice, 10)) {
    case 0:
    case 1:
        join(at, "index");
        return;
    case 2:
    case 3:
        join(at, "combine");
        return;
    case 4:
        append(at);
        return;
    case 5:
        convert(at);
        return;
    case 6:
        split(at);
        return;
    case 7: {
        const size_t which = (size_t)world_below(&at->dice, at->n_files);
        if (world_once_in(&at->dice, 2) && world_damage(at->files[which], &at->dice))
            at->is_damaged[which] = true;
        return;
    }
    default:
        look(at);
    }
}

/* -- all of them ------------------------------------------------------------------------------- */

static void remove_all(const char *path) {
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char name[4096];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (unlink(name) != 0) {
            remove_all(name);
            rmdir(name);
        }
    }
    if (folder != NULL) closedir(folder);
}

static void set_clocks(unsigned cpu_seconds, unsigned seconds) {
    const struct itimerval cpu = {.it_value = {.tv_sec = cpu_seconds}};
    setitimer(ITIMER_PROF, &cpu, NULL);
    alarm(seconds);
}

static void run_seed(void) {
    trial at = {.dice = {seed * 0x9e3779b97f4a7c15u + 1}};
    set_clocks(MAX_CPU_SECONDS, MAX_SECONDS);
    if (!world_write(&at.world, &at.dice)) abort();
    for (size_t i = 0; i < at.world.n_parts; i++) keep(&at, at.world.names[i]);
    for (size_t n = 3 + world_below(&at.dice, 5); n > 0; n--) step(&at);
    set_clocks(0, 0);
    remove_all(".");
}

static bool enter_folder(const char *given) {
    static char made[] = "/dev/shm/structuredXXXXXX", other[] = "/tmp/structuredXXXXXX";
    const char *folder = given;
    if (folder == NULL) folder = mkdtemp(made);
    if (folder == NULL) folder = mkdtemp(other);
    if (given != NULL) mkdir(given, 0777);
    return folder != NULL && chdir(folder) == 0;
}

int main(int argc, char **argv) {
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGPROF};
    if (argc < 3) {
        fprintf(stderr, "usage: structured_verbs FIRST COUNT [FOLDER]\n");
        return 2;
    }
    const uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    char folder[4096];
    if (!enter_folder(argc > 3 ? argv[3] : NULL) || getcwd(folder, sizeof folder) == NULL) {
        perror("structured_verbs");
        return 2;
    }
    output = fcntl(memfd_create("output", 0), F_DUPFD, 10);
    if (dup2(STDERR_FILENO, REPORT) != REPORT || output < 0 ||
        dup2(STDERR_FILENO, SANITIZER_REPORT) != SANITIZER_REPORT)
        return 2;
    if (__sanitizer_set_report_fd != NULL)
        __sanitizer_set_report_fd((void *)(uintptr_t)SANITIZER_REPORT);
    const int own = fcntl(STDOUT_FILENO, F_DUPFD, 10);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    setvbuf(stdout, NULL, _IOFBF, 65536);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) signal(signals[i], on_signal);
    for (seed = first; seed < first + count; seed++) run_seed();
    dprintf(own, "%llu executions\n%llu seeds: %llu verbs succeeded\n", (unsigned long long)n_runs,
            (unsigned long long)count, (unsigned long long)n_succeeded);
    if (chdir("/") == 0 && argc <= 3) rmdir(folder);
    return 0;
}
