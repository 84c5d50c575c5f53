// ViewComparison folds the views of a new module over the whole journal, and compares the rows with those of the previous
// module where the service would go on with the rows that it has, because the definition of the view is the same.
//
// Invariants
// V1  The rows are in a temporary file: memory does not grow with the journal.
// V2  Events that were skipped are left out of the fold by the definition that skips them.
// V3  A view that stops is compared no further; the other views are not affected.
import type { ModuleDescriptor, ViewDescriptor } from '@svc/contract';
import { SvcError } from '@svc/kit/svc-error';
import type { Guest } from '@svc/model/guest';
import type { SkippedEvent } from '../engine/needs/views.ts';
import type { StartedGuest } from '../hosting/start-guest.ts';
import { GuestFault } from '@svc/model/guest-fault';
import type { JournalLocation } from '../storage/journal-location.ts';
import { openEndedFeed } from '../storage/journal-reading.ts';
import { scanRows } from '../storage/stored-views.ts';
import { TemporaryRows } from '../storage/views/temporary-rows.ts';
import type { FoldedView } from '../views/folded-view.ts';
import { declaredViews } from '../views/view-definitions.ts';
import type { ViewStopped } from '../views/view-stopped.ts';
import { faultLine } from './fault-line.ts';
import { stateDifference } from './state-comparison.ts';
import type { UpgradeFindings } from './upgrade-finding.ts';
import { ViewReplay } from './view-replay.ts';

/** Maximum length of a fault's text in the description of a problem, in UTF-16 units. */
const PROBLEM_MAX = 500;

/** A module or program, with the guest that folds its views. */
export interface ComparedSource {
  readonly descriptor: ModuleDescriptor;
  readonly fingerprint: string;
  readonly guest: Guest | StartedGuest;
}

export interface ViewComparisonNeeds {
  readonly location: JournalLocation;
  readonly now: ComparedSource;
  readonly before: ComparedSource | undefined;
  readonly findings: UpgradeFindings;
  readonly foldedRecords: (count: number) => void;
}

export class ViewComparison {
  readonly #needs: ViewComparisonNeeds;

  constructor(needs: ViewComparisonNeeds) {
    this.#needs = needs;
  }

  /** Folds a view of the new module. Rejects with the errors of the feed, except damage, and of the temporary rows. */
  async compare(id: string): Promise<void> {
    const { location, now, before } = this.#needs;
    const feed = await openEndedFeed(location);
    const rows = new TemporaryRows();
    const replayed = async (source: ComparedSource, view: FoldedView) => {
      const { foldedRecords } = this.#needs;
      const guest = source.guest.views!;
      const replay = new ViewReplay({
        view,
        guest,
        feed,
        rows,
        skips: await skipsOf(location, view),
        foldedRecords,
      });
      await replay.to(feed.end());
      return replay;
    };
    try {
      const view = foldedView(now, id)!;
      const present = await replayed(now, view);
      const old = before && foldedView(before, id);
      const isSame = old?.stored.definition === view.stored.definition;
      const earlier =
        old !== undefined && (isSame || present.stopped !== undefined)
          ? await replayed(before!, old)
          : undefined;
      if (present.stopped !== undefined)
        this.#reportStopped(id, present.stopped, earlier?.stopped !== undefined);
      else if (earlier !== undefined && earlier.stopped === undefined)
        this.#compareRows(id, rows, earlier, present);
    } finally {
      rows.close();
      feed.close();
    }
  }

  #compareRows(id: string, rows: TemporaryRows, before: ViewReplay, now: ViewReplay): void {
    const oldType = typeOfRow(this.#needs.before!.descriptor, id);
    const type = typeOfRow(this.#needs.now.descriptor, id);
    for (const { key, one, other } of rows.differences(before.table, now.table)) {
      if (one === undefined || other === undefined) {
        const problem = other === undefined ? 'the row is gone' : 'the row is new';
        this.#reportRow(id, 'rows', 'there are other rows', key, problem);
        continue;
      }
      const difference = stateDifference(one, other, oldType, type);
      if (difference === undefined) continue;
      const { path, pattern } = difference;
      const what = `${inRow(pattern)} has another value`;
      const problem = `${inRow(path)} was ${difference.before} and is ${difference.now}`;
      this.#reportRow(id, pattern, what, key, problem);
    }
  }

  #reportRow(view: string, subject: string, what: string, key: string, problem: string): void {
    const message = `${what}, and the definition of the view is the same, so that stored rows are not built again`;
    const finding = { name: 'view-rows-differ', component: view, subject, message } as const;
    this.#needs.findings.add(finding, { id: key, problem });
  }

  #reportStopped(view: string, stopped: ViewStopped, beforeToo: boolean): void {
    const { entity, seq } = stopped.at;
    const { cause } = stopped;
    const line = cause instanceof GuestFault ? faultLine(cause) : undefined;
    const words = (line ?? stopped.message).slice(0, PROBLEM_MAX);
    const { component } = entity;
    const problem = beforeToo ? `${words} (so did the version before)` : words;
    this.#needs.findings.add(
      {
        name: 'view-stopped',
        component: view,
        subject: component,
        message: `the view stops at a stored event of component '${component}'`,
      },
      { id: entity.id, seq, problem },
    );
  }
}

/** Returns the events that the service leaves out of the rows. Throws SVC_DATA_UNUSABLE. */
async function skipsOf(
  location: JournalLocation,
  { stored }: FoldedView,
): Promise<readonly SkippedEvent[]> {
  try {
    return (await scanRows(location, stored, () => {}))?.skips ?? [];
  } catch (error) {
    // The service would build the rows again, and has lost which events are skipped.
    if (error instanceof SvcError && error.code === 'SVC_VIEW_CORRUPT') return [];
    throw error;
  }
}

function foldedView(
  { descriptor, fingerprint, guest }: ComparedSource,
  id: string,
): FoldedView | undefined {
  if (guest.views === undefined) return undefined;
  const views = declaredViews(descriptor, fingerprint);
  return views.find(({ folded }) => folded.id === id)?.folded;
}

function typeOfRow({ views = [], types }: ModuleDescriptor, id: string) {
  const view: ViewDescriptor = views.find((one) => one.id === id)!;
  return { type: view.row, types };
}

function inRow(path: string): string {
  return path === '' ? 'the row' : path;
}
