// HistoryWorker is what the history thread runs (history-thread.ts): it answers questions about stored entities with a guest
// of its own, and finds the source locations of faults. It answers one question at a time.
import { parentPort, workerData } from 'node:worker_threads';
import { type FaultPlaces, readFaultPlaces } from '../../hosting/wasm/places/fault-places.ts';
import { startWasmGuest } from '../../hosting/wasm/wasm-guest.ts';
import { SvcError } from '@svc/kit/svc-error';
import { HistoryAnswers } from './history-answers.ts';
import type {
  FromHistoryWorker,
  HistoryAnswer,
  HistoryQuestion,
  HistoryWork,
  ModuleSource,
} from './history-reader.ts';

/** Modules whose source locations are kept: those that a developer has had served lately. */
const MODULES_MAX = 4;

const { dir, module, limits } = workerData as HistoryWork;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const send = (message: FromHistoryWorker) => parentPort!.postMessage(message);
/** By fingerprint, the oldest first. */
const faultPlaces = new Map<string, Promise<FaultPlaces>>();
const answers = new HistoryAnswers({
  dir,
  descriptor: module.descriptor,
  // Nobody here reads what the module writes to its log.
  startGuest: () => startWasmGuest(module, limits, () => {}),
});

async function answered(question: HistoryQuestion): Promise<HistoryAnswer> {
  if (question.kind !== 'places') return answers.answer(question);
  const known = await placesIn(question);
  return { kind: 'places', places: question.faults.map((fault) => known.placesOf(fault)) };
}

async function placesIn({ file, fingerprint }: ModuleSource): Promise<FaultPlaces> {
  const known = faultPlaces.get(fingerprint);
  if (known !== undefined) return known;
  if (faultPlaces.size >= MODULES_MAX) faultPlaces.delete(faultPlaces.keys().next().value!);
  const read = readFaultPlaces({ file, fingerprint, limits });
  faultPlaces.set(fingerprint, read);
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
