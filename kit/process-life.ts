// ProcessLife: whether a process of this machine runs, as far as its id shows that.

/** Largest id that a system call takes: a signed integer of 32 bits. */
const PID_MAX = 2 ** 31 - 1;

/**
 * Returns whether a process has this id, in the PID namespace of this process. A process of another user counts, and so does one
 * that has the id anew. A number that cannot be an id is none.
 */
export function isProcessAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 1 || pid > PID_MAX) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
