// AuthoredEngine sets the author of the calls that a handler makes. An author that the handler gives in the metadata of a call is
// dropped, so that a module can neither forge nor remove one. Calls are recorded as the handler made them, before this.
import { AUTHOR_FIELD, withoutAuthor } from '@svc/model/author';
import type { Metadata } from '@svc/model/call';
import type { CallableEngine } from './callable-engine.ts';

/** `author`: text of the verified author (contract/author.ts); undefined: the calls have none. */
export function authoredEngine(engine: CallableEngine, author: string | undefined): CallableEngine {
  const { speculate } = engine;
  const own = (given: Metadata): Metadata => {
    const metadata = withoutAuthor(given);
    return author === undefined ? metadata : [...metadata, [AUTHOR_FIELD, author]];
  };
  return {
    call: (target, name, input, metadata, key) =>
      engine.call(target, name, input, own(metadata), key),
    readEvents: (...range) => engine.readEvents(...range),
    changeTimers: (...change) => engine.changeTimers(...change),
    ...(speculate && {
      speculate: (target, name, input, metadata, key) =>
        engine.speculate!(target, name, input, own(metadata), key),
    }),
  };
}
