"""What a run of a peer cost."""


def bodies(folder):
    """Bytes of the body of each answer of a served folder so far."""
    with open(folder.file("log"), encoding="utf-8") as file:
        return [int(line.rsplit("\t", 1)[1]) for line in file]


def peak_memory():
    """MB of this process alone: getrusage(2) counts what its parent had before exec(2)."""
    with open("/proc/self/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024
