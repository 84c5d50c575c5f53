// The memory of another process, from Linux's /proc.
import { readFileSync } from 'node:fs';

/** Bytes that a process holds in memory. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]);
}
