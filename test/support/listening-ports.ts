// On which addresses a process listens, as the kernel of Linux says it.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTENS = '0A';

/** `127.0.0.1:9000`, in no order; those of IPv6 by their digits. */
export function listeningAddresses(pid: number): string[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        // It is closed by now.
        return [];
      }
    }),
  );
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
        return state === LISTENS && sockets.has(inode!) ? addressOf(local!) : [];
      }),
  );
}

/** Of `0100007F:2328`, whose bytes are those of the machine. */
function addressOf(text: string): string {
  const [digits = '', port = ''] = text.split(':');
  const host =
    digits.length === 8
      ? digits
          .match(/../g)!
          .toReversed()
          .map((byte) => Number.parseInt(byte, 16))
          .join('.')
      : digits;
  return `${host}:${Number.parseInt(port, 16)}`;
}
