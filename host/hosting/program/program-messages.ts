// The messages between a tool and the thread that runs a program's components (program-thread.ts, program-worker.ts).
// The tool waits for each answer, so there is one call at a time, and one signal in shared memory: whether there is an
// answer.
import type { ModuleDescriptor } from '@svc/contract';
import type { MessagePort } from 'node:worker_threads';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { CallContext } from '@svc/model/call';
import type { EntityEvent, EntityRef, StoredEvent } from '@svc/model/entity';
import type { FaultCause } from '@svc/model/guest-fault';
import type { KeyedEvent, RowState } from '@svc/model/view';

/** Values of the signal. `ended`: the thread ends, and answers no further call. */
export const SIGNAL = { waiting: 0, answered: 1, ended: 2 } as const;

/** The data with which the thread is started. */
export interface ProgramWork {
  /** Path of the file that exports the components. */
  readonly file: string;
  readonly port: MessagePort;
  /** One 32-bit integer, a value of SIGNAL. */
  readonly signal: SharedArrayBuffer;
}

/** A call of an entity; `open` creates the entity. The thread answers each call. */
export type EntityCall =
  | { readonly kind: 'open'; readonly entity: EntityRef; readonly snapshot: string | undefined }
  | { readonly kind: 'apply'; readonly events: readonly StoredEvent[] }
  | {
      readonly kind: 'command' | 'query';
      readonly context: CallContext;
      readonly name: string;
      /** JSON text. */
      readonly input: string;
    }
  | { readonly kind: 'reply'; readonly context: CallContext; readonly name: string }
  | { readonly kind: 'snapshot' };

/** A call of a view, as of GuestViews. The thread answers each call. */
export type ViewCall =
  | { readonly kind: 'keys'; readonly events: readonly EntityEvent[] }
  | {
      readonly kind: 'fold';
      readonly rows: readonly RowState[];
      readonly events: readonly KeyedEvent[];
    };

/** A call that has an answer. `entityNo`: number that the tool chooses for an entity when it opens the entity. */
export type ProgramCall =
  | { readonly entityNo: number; readonly call: EntityCall }
  | { readonly view: string; readonly call: ViewCall };

/** `close` has no answer. */
export type ToProgram =
  | ProgramCall
  | { readonly entityNo: number; readonly call: { readonly kind: 'close' } };

export interface LoadedProgram {
  readonly descriptor: ModuleDescriptor;
  readonly fingerprint: string;
}

export type FromProgram =
  | ({ readonly kind: 'loaded' } & LoadedProgram)
  /** The program cannot be loaded; the thread ends. */
  | { readonly kind: 'refused'; readonly code: SvcErrorCode; readonly message: string }
  | { readonly kind: 'value'; readonly value: unknown }
  | {
      readonly kind: 'fault';
      readonly faultCause: FaultCause;
      readonly message: string;
      readonly guestMessage: string | undefined;
    }
  /** The thread ends by itself. `problem`: why, as the end of a sentence whose subject is the program. */
  | { readonly kind: 'ended'; readonly problem: string };
