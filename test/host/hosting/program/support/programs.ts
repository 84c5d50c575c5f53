// Programs with one entity, and what a tool makes of them.
import { join } from 'node:path';
import { programStarter } from '../../../../../host/hosting/program/program-guest.ts';
import type { ProgramViews } from '../../../../../host/hosting/program/program-views.ts';
import { readProgram } from '../../../../../host/hosting/program/program-source.ts';
import type { GuestEntity } from '../../../../../model/guest.ts';
import type { CallContext, Effect, Refusal } from '../../../../../model/call.ts';
import type { StoredEvent } from '../../../../../model/entity.ts';
import type { GuestFault } from '../../../../../model/guest-fault.ts';
import { fillProgramFolder } from '../../../../support/program-folder.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

export const SOON = { loadTimeoutMs: 20_000, callTimeoutMs: 1_000, memoryMib: 64 };

/** An entity whose `apply` runs the body with `state` and `event`, and whose command runs the other one. */
export const counter = (apply: string, command = '') => `
import { defineEntity } from '@svc/host';
import { Type } from 'typebox';
export const components = {
  entities: [
    defineEntity({
      component: 'counter',
      state: { manifest: 'count', schema: Type.Object({ count: Type.Integer() }) },
      event: { manifest: 'counted', schema: Type.Object({ type: Type.Literal('counted') }) },
      empty: () => ({ count: 0 }),
      apply(state, event) {
        ${apply}
        return { count: state.count + 1 };
      },
      commands: { count: { handle(state, context) {
        ${command}
        return context.persist({ type: 'counted' }).thenReply();
      } } },
    }),
  ],
};`;

/** The program of the counter with views that count the events of each key; `fold` and `keys` run the bodies before. */
export const counted = (views: readonly string[], fold: string, keys = '') => `
import { defineView } from '@svc/host';
${counter('')}
components.views = ${JSON.stringify(views)}.map((id) => defineView({
  id,
  version: '1',
  row: Type.Object({ count: Type.Integer() }),
  from: [{
    entity: components.entities[0],
    keys(event, { entityId }) {
      ${keys}
      return [entityId];
    },
    fold(row, event, { entityId, put }) {
      ${fold}
      return put({ count: (row?.count ?? 0) + 1 });
    },
  }],
}));`;

/** A program answers at once. */
interface SynchronousEntity extends GuestEntity {
  apply(events: readonly StoredEvent[], spent: undefined): string | undefined;
  command(context: CallContext, name: string, input: string): Effect | Refusal;
  snapshot(): string;
}

export const COUNTED = { manifest: 'counted', json: '{"type":"counted"}' };

/** Path of a file with the text, in a folder of its own. */
export function program(text: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = temporaryFolder();
  fillProgramFolder(folder, { 'components.ts': text, ...files });
  return join(folder, 'components.ts');
}

export function counterOf(text: string) {
  const file = program(text);
  const source = readProgram(file);
  const start = programStarter(source, SOON);
  const open = () => start().entities.open({ component: 'counter', id: 'a' }, undefined);
  return { file, open: async () => (await open()) as SynchronousEntity };
}

/** The views of a program that has the view `counts`. */
export function viewsOf(fold: string, keys?: string): ProgramViews {
  const source = readProgram(program(counted(['counts'], fold, keys)));
  return programStarter(source, SOON)().views as ProgramViews;
}

export const faultOf = (act: () => unknown): GuestFault => {
  try {
    act();
  } catch (fault) {
    return fault as GuestFault;
  }
  throw new Error('it did not fault');
};
