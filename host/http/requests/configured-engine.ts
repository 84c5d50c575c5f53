// ConfiguredEngine answers the calls by which handlers read the configuration of their module, and passes all other calls on to the
// engine. Such a call reaches no entity and no other shard, and its answer is final. It is recorded with the calls of the handler, so
// a handler that is run again reads the same values.
import { CONFIGURATION_COMPONENT } from '@svc/contract';
import { type Refusal, refusal, type Reply } from '@svc/model/call';
import type { CurrentConfiguration } from '@svc/model/configuration';
import type { EntityRef } from '@svc/model/entity';
import type { CallableEngine } from './callable-engine.ts';

const NONE = refusal('NOT_FOUND', 'The module has no configuration.');

/** `configuration`: absent if the module cannot have one. */
export function configuredEngine(
  engine: CallableEngine,
  configuration: CurrentConfiguration | undefined,
): CallableEngine {
  if (configuration === undefined) return engine;
  const read = ({ component }: EntityRef): Reply | Refusal | undefined => {
    if (component !== CONFIGURATION_COMPONENT) return undefined;
    const { texts } = configuration;
    return texts === undefined ? NONE : { kind: 'reply', json: texts.json };
  };
  const { speculate } = engine;
  return {
    call: (...call) => read(call[0]) ?? engine.call(...call),
    readEvents: (...range) => engine.readEvents(...range),
    changeTimers: (...change) => engine.changeTimers(...change),
    ...(speculate && {
      speculate: (...call) => read(call[0]) ?? engine.speculate!(...call),
    }),
  };
}
