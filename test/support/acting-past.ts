// A thread that looks into the past as a test tells it: the id of what is asked for is a program.
import { parentPort, workerData } from 'node:worker_threads';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const tell = (message: object): void => parentPort!.postMessage(message);

parentPort!.on('message', (question: { readonly component: string; readonly id: string }) => {
  const answer = (): void =>
    tell({ kind: 'answer', answer: { kind: 'history', page: { question, workerData } } });
  switch (question.id) {
    case 'spin':
      while (true);
    // oxlint-disable-next-line no-fallthrough -- it is never left
    case 'hog': {
      const all: string[][] = [];
      while (true) all.push(Array.from({ length: 100_000 }, (_, at) => `${at}`));
    }
    // oxlint-disable-next-line no-fallthrough -- it is never left
    case 'bug':
      throw new TypeError('a bug');
    case 'fail':
      return tell({ kind: 'failed', code: 'SVC_NOT_IN_JOURNAL', message: 'It is not there.' });
    case 'slow':
      return void setTimeout(answer, 300);
    default:
      return answer();
  }
});
