// HistoryWorker is the code of the history thread (history-thread.ts): it answers questions about stored entities
// with its own guest, and finds the source locations of faults. It answers one question at a time.
import { parentPort, workerData } from 'node:worker_threads';
import type { SourceFile } from '../../hosting/guest-source.ts';
import { type FaultLocator, sourceLocations } from '../../hosting/source-locations.ts';
import { startGuest } from '../../hosting/start-guest.ts';
import { SvcError } from '@svc/kit/svc-error';
import { HistoryAnswers } from './history-answers.ts';
import type {
  FromHistoryWorker,
  HistoryAnswer,
  HistoryQuestion,
  HistoryWork,
} from './history-reader.ts';

/** Maximum number of sources whose locations are cached: the sources that `svc dev` has served lately. */
const SOURCES_MAX = 4;

const { location, source, settings } = workerData as HistoryWork;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const send = (message: FromHistoryWorker) => parentPort!.postMessage(message);
/** Indexed by the fingerprint of the source; the source that was added first is first. */
const faultLocators = new Map<string, Promise<FaultLocator>>();
const answers = new HistoryAnswers({
  location,
  descriptor: source.descriptor,
  // Logs of the guest are discarded.
  startGuest: () => startGuest(source, settings, () => {}),
});

async function answered(question: HistoryQuestion): Promise<HistoryAnswer> {
  if (question.kind !== 'locations') return answers.answer(question);
  const known = await locatorOf(question.of);
  return { kind: 'locations', locations: question.faults.map((fault) => known.locationsOf(fault)) };
}

async function locatorOf(of: SourceFile): Promise<FaultLocator> {
  const { fingerprint } = of;
  const known = faultLocators.get(fingerprint);
  if (known !== undefined) return known;
  if (faultLocators.size >= SOURCES_MAX) faultLocators.delete(faultLocators.keys().next().value!);
  const read = sourceLocations(of, settings);
  faultLocators.set(fingerprint, read);
  return read;
}

async function answer(question: HistoryQuestion): Promise<void> {
  try {
    send({ kind: 'answer', answer: await answered(question) });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    send({ kind: 'failed', code: error.code, message: error.message });
  }
}

parentPort!.on('message', (question: HistoryQuestion) => void answer(question));
