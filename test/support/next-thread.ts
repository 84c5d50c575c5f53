// NextThread counts the threads that this process has started: each has the number that follows on the one before.
import { Worker } from 'node:worker_threads';

/** Starts a thread that does nothing, and returns its number. */
export async function nextThread(): Promise<number> {
  const worker = new Worker('', { eval: true });
  const { threadId } = worker;
  await worker.terminate();
  return threadId;
}
