// What the thread that looks into the past runs (past-thread.ts): it reads the journal beside the host, and folds its
// events in an instance of its own. One question at a time; no file is kept open in between.
import { parentPort, workerData } from 'node:worker_threads';
import type { EntityList, HistoryPage } from '@svc/contract';
import type { Guest } from '../../engine/needs/guest.ts';
import { quoted } from '../../engine/quoted.ts';
import { type FaultPlaces, readFaultPlaces } from '../../hosting/wasm/admission/fault-places.ts';
import { HistoryPages } from '../history-pages.ts';
import { timeText } from '../history-walk.ts';
import { startWasmGuest } from '../../hosting/wasm/wasm-guest.ts';
import type { EntityRef } from '../../model/entity.ts';
import { SvcError } from '../../model/svc-error.ts';
import type {
  FromPast,
  ModuleSource,
  PastAnswer,
  PastQuestion,
  PastWork,
} from './history-reader.ts';
import {
  inspectJournal,
  type JournalInspection,
} from '../../storage/sqlite/tools/journal-inspection.ts';

/** Of the modules that a developer has had served lately. */
const PLACES_MAX = 4;
/** A count goes through the index of the ids, so it stops where a journal has very many. */
const ENTITIES_COUNTED_MAX = 100_000;

const { dir, module, limits } = workerData as PastWork;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const tell = (message: FromPast) => parentPort!.postMessage(message);
/** By fingerprint, the oldest first. */
const faultPlaces = new Map<string, Promise<FaultPlaces>>();
let inspection: JournalInspection | undefined;
let guest: Guest | undefined;
/** Of the entity that was asked for last: who reads on asks for the page that follows. */
let last: { readonly entity: EntityRef; readonly pages: HistoryPages } | undefined;

async function answered(question: PastQuestion): Promise<PastAnswer> {
  switch (question.kind) {
    case 'entities':
      return { kind: 'entities', list: entities(question) };
    case 'history':
      return { kind: 'history', page: await history(question) };
    case 'places': {
      const known = await placesIn(question);
      return { kind: 'places', places: question.faults.map((fault) => known.placesOf(fault)) };
    }
  }
}

async function placesIn({ file, fingerprint }: ModuleSource): Promise<FaultPlaces> {
  const known = faultPlaces.get(fingerprint);
  if (known !== undefined) return known;
  if (faultPlaces.size >= PLACES_MAX) faultPlaces.delete(faultPlaces.keys().next().value!);
  const read = readFaultPlaces({ file, fingerprint, limits });
  faultPlaces.set(fingerprint, read);
  return read;
}

function entities({
  component,
  prefix,
  afterId,
  limit,
}: Extract<PastQuestion, { kind: 'entities' }>): EntityList {
  inspection ??= inspectJournal(dir);
  if (!isDeclared(component) && !inspection.hasComponent(component))
    throw new SvcError(
      'SVC_NOT_IN_JOURNAL',
      `Neither the module nor the journal has a component ${quoted(component)}.`,
    );
  const found = inspection.entities(component, afterId, limit + 1, prefix);
  const next = found.length > limit ? (found[limit - 1]?.id ?? null) : null;
  const shown = found.slice(0, limit).map(({ id, events, lastTimeMs, deleted }) => ({
    id,
    events,
    lastTime: lastTimeMs === undefined ? null : timeText(lastTimeMs),
    deleted,
  }));
  const counted = inspection.countEntities(component, prefix, ENTITIES_COUNTED_MAX + 1);
  return {
    component,
    entities: shown,
    total: Math.min(counted, ENTITIES_COUNTED_MAX),
    totalCapped: counted > ENTITIES_COUNTED_MAX,
    next,
  };
}

async function history({
  component,
  id,
  from,
  limit,
}: Extract<PastQuestion, { kind: 'history' }>): Promise<HistoryPage> {
  if (last?.entity.component !== component || last.entity.id !== id) {
    last?.pages.close();
    const entity = { component, id };
    // What the module writes to its log concerns nobody here.
    inspection ??= inspectJournal(dir);
    guest ??= startWasmGuest(module, limits, () => {});
    const folding = isDeclared(component) ? guest.entities : undefined;
    last = { entity, pages: new HistoryPages(inspection, folding, entity) };
  }
  return last.pages.page(from, limit);
}

function isDeclared(component: string): boolean {
  return module.descriptor.entities.some((entity) => entity.component === component);
}

async function answer(question: PastQuestion): Promise<void> {
  try {
    tell({ kind: 'answer', answer: await answered(question) });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    tell({ kind: 'failed', code: error.code, message: error.message });
  } finally {
    inspection?.close();
  }
}

parentPort!.on('message', (question: PastQuestion) => void answer(question));
