// FolderControl changes the service of a data folder for a tool: through the host that runs on the folder, or, if none does,
// under the lock of the folder.
import { SVC_ERROR_CODES, SvcError, type SvcErrorCode } from '@svc/kit/svc-error';
import { sendControl } from '@svc/kit/control-client';
import { controlMessage, type ControlRequest, VIEWS_PATH } from '../control/control-request.ts';
import { type InspectedView, ViewInspection } from '../history/view-inspection.ts';
import type { ViewStatus } from '@svc/model/view-status';
import { controlSocketOf } from '../storage/journal-administration.ts';
import type { JournalLocation } from '../storage/journal-location.ts';
import { changeStoppedFolder } from './stopped-folder.ts';

export type { ControlRequest };

export interface FolderChange {
  /** Whether there was something to change. */
  readonly changed: boolean;
  /** Whether a running host has made the change. */
  readonly byHost: boolean;
}

/**
 * Makes a change. Resolves once it is on disk. Rejects with SVC_JOURNAL_MISSING, SVC_CONTROL_UNAVAILABLE,
 * SVC_ANSWER_TIMED_OUT, SVC_DATA_IN_USE if a host runs that has no control socket, with the errors of opening the journal, and
 * with the host's own.
 */
export async function changeFolder(
  location: JournalLocation,
  request: ControlRequest,
): Promise<FolderChange> {
  try {
    const changed = await changeStoppedFolder(location, request);
    return { changed, byHost: false };
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'SVC_DATA_IN_USE') throw error;
    const socket = await controlSocketOf(location);
    if (socket === undefined) throw withoutSocket(error);
    return { changed: await changedByHost(socket, request), byHost: true };
  }
}

/**
 * Returns the views of a folder as its files show them, and, if a host with a control socket runs on the folder, with what the
 * host knows of them. Rejects with SVC_JOURNAL_….
 */
export async function inspectViews(location: JournalLocation): Promise<readonly InspectedView[]> {
  const inspection = new ViewInspection(location);
  try {
    const found = await inspection.list();
    const byHost = found.length === 0 ? new Map<string, ViewStatus>() : await viewsOfHost(location);
    return found.map((view) => ({ ...view, status: byHost.get(view.status.view) ?? view.status }));
  } finally {
    inspection.close();
  }
}

/** Returns the views of the host that runs on a folder, by their ids; none if no host answers. Never rejects. */
async function viewsOfHost(location: JournalLocation): Promise<ReadonlyMap<string, ViewStatus>> {
  const socket = await controlSocketOf(location);
  if (socket === undefined) return new Map();
  try {
    const { status, body } = await sendControl(socket, VIEWS_PATH);
    const { views } = parsed(body);
    if (status !== 200 || !Array.isArray(views)) return new Map();
    return new Map((views as readonly ViewStatus[]).map((view) => [view.view, view]));
  } catch {
    // The host has ended, or belongs to another user: the files tell the rest.
    return new Map();
  }
}

async function changedByHost(socket: string, request: ControlRequest): Promise<boolean> {
  const { path, body } = controlMessage(request);
  const answer = await sendControl(socket, path, body);
  const content = parsed(answer.body);
  if (answer.status === 200 && typeof content['changed'] === 'boolean') return content['changed'];
  const { code, error } = content;
  throw new SvcError(
    isCode(code) ? code : 'SVC_CONTROL_UNAVAILABLE',
    typeof error === 'string'
      ? error
      : `The running host has answered with the status ${answer.status}. Is it of another version?`,
  );
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function isCode(code: unknown): code is SvcErrorCode {
  return SVC_ERROR_CODES.some((known) => known === code);
}

function withoutSocket(error: SvcError): SvcError {
  return new SvcError(
    error.code,
    `${error.message} It has no control socket, by which a running host could be asked: it is about to start, it is ` +
      'a program that embeds the service, or it runs on another machine, where you can use this command.',
    { cause: error },
  );
}
