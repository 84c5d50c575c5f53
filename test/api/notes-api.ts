// NotesApi: an API with a table of its own, which has what the control plane's does not: PATCH, 201 with an address, 202, and pages.
import { onTestFinished } from 'vitest';
import { refusalsWith, type Route } from '@svc/client';
import { createService, defineEndpoint, Ok, refuse, respond } from '@svc/host';
import { apiRoutes, type ApiHandlers } from '../../api/api-routes.ts';
import type { ApiTable } from '../../api/api-table.ts';
import { CallerRoutes, UNLIMITED, type KnownCaller } from '../../api/caller-routes.ts';
import type { Subject } from '../../tokens/token-outcome.ts';
import { body, integer, list, nullable, object, text } from '../../client/control-plane/schema.ts';

const note = object('Note', 'a note', { id: text('id'), words: text('what it says') });
const NOTES = '/api/v1/tenants/{tenantId}/notes';
const NOTE = `${NOTES}/{noteId}` as const;

export const ROUTES = {
  listNotes: {
    method: 'GET',
    path: NOTES,
    who: 'reader',
    summary: 'Lists notes',
    query: { limit: integer('notes of a page', { minimum: 1, maximum: 2 }) },
    answer: list('the oldest first', note),
  },
  createNote: {
    method: 'POST',
    path: NOTES,
    who: 'writer',
    summary: 'Creates a note',
    body: body('NoteCreation', 'a new note', { words: text('what it says', { minLength: 1 }) }),
    answer: note,
    success: 201,
  },
  changeNote: {
    method: 'PATCH',
    path: NOTE,
    who: 'writer',
    summary: 'Changes a note',
    body: body('NoteChange', 'a merge patch', {}, { words: nullable('new words', text('words')) }),
    answer: note,
  },
  sendNote: {
    method: 'POST',
    path: `${NOTE}/send`,
    who: 'writer',
    summary: 'Sends a note soon',
    answer: note,
    success: 202,
  },
  deleteNote: { method: 'DELETE', path: NOTE, who: 'writer', summary: 'Deletes a note' },
} as const satisfies Readonly<Record<string, Route<'reader' | 'writer'>>>;

type Rows = typeof ROUTES;
type Note = { readonly id: string; readonly words: string };

const TABLE: ApiTable<Rows> = {
  routes: ROUTES,
  parameters: {
    tenantId: text('id of a tenant', { pattern: '^[a-z]+$' }),
    noteId: text('id of a note', { pattern: '^[0-9]+$' }),
  },
  refusalsOf: (route) =>
    refusalsWith(route, {
      program: 'the service of notes',
      forbidden: [],
      notFound: ['there is no such note'],
    }),
  maySucceedLater: ({ otherCode }) => otherCode === 'BUSY',
};
const NO_SUCH_NOTE = refuse('there is no such note', 'NOT_FOUND');

function handlers(): ApiHandlers<Rows, Readonly<Record<keyof Rows, KnownCaller<Subject>>>> {
  const notes = new Map<string, Note>();
  return {
    async listNotes({ input: { tenantId, limit = 2 } }) {
      const next = `<${NOTES.replace('{tenantId}', tenantId)}?limit=${limit}>; rel="next"`;
      return respond([...notes.values()].slice(0, limit), { headers: { link: next } });
    },
    async createNote({ input: { tenantId, body: creation } }) {
      const id = String(notes.size + 1);
      const created = { id, ...creation };
      notes.set(id, created);
      const address = NOTE.replace('{tenantId}', tenantId).replace('{noteId}', id);
      return respond(created, { headers: { location: address } });
    },
    async changeNote({ input: { noteId, body: change } }) {
      const known = notes.get(noteId);
      if (known === undefined) return NO_SUCH_NOTE;
      const words = change.words === undefined ? known.words : (change.words ?? '');
      const changed = { ...known, words };
      notes.set(noteId, changed);
      return new Ok(changed);
    },
    async sendNote({ input: { noteId } }) {
      if (noteId === '9')
        return refuse('another one is being sent', 'OTHER', { otherCode: 'BUSY' });
      const known = notes.get(noteId);
      return known === undefined ? NO_SUCH_NOTE : new Ok(known);
    },
    async deleteNote({ input: { noteId } }) {
      return notes.delete(noteId) ? new Ok(null) : NO_SUCH_NOTE;
    },
  };
}

/** Starts the API and returns its URL. The tokens that it takes are the subjects of their callers. */
export async function startNotes(limits = UNLIMITED): Promise<string> {
  const { reads, writes } = new CallerRoutes({
    verifier: {
      async verify([value]) {
        if (value === undefined) return { kind: 'missing' };
        return { kind: 'known', caller: { subject: value.slice('Bearer '.length) } };
      },
    },
    limits,
    tokenAdvice: 'ask an administrator for one',
  });
  const service = await createService({
    name: 'notes',
    journal: 'memory',
    http: { port: 0 },
    entities: [],
    endpoints: [
      defineEndpoint({
        name: 'notes',
        prefix: '',
        access: 'internet',
        routes: apiRoutes(TABLE, handlers(), (name) =>
          ROUTES[name].method === 'GET' ? reads : writes,
        ),
      }),
    ],
    log: () => {},
  });
  onTestFinished(() => service.stop());
  return service.url!;
}
