// Program of a test: opens many connections to a port, sends a text on each, and leaves them open. Reports when all are open,
// and on each message how many still are.
import { connect, type Socket } from 'node:net';

const AT_ONCE = 200;
const [port, count, text] = process.argv.slice(2);
const open = new Set<Socket>();

function openOne(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.once('connect', () => {
      open.add(socket);
      if (text !== '') socket.write(text!);
      resolve();
    });
    socket.on('error', reject);
    socket.on('close', () => open.delete(socket));
    socket.resume();
  });
}

for (let opened = 0; opened < Number(count); opened += AT_ONCE)
  await Promise.all(Array.from({ length: AT_ONCE }, openOne));
process.send!({ opened: Number(count) });
process.on('message', () => process.send!({ open: open.size }));
