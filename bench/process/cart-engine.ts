// CartEngine: an engine of the cart in the thread of the benchmark, without HTTP.
import type { Guest } from '@svc/model/guest';
import type { EngineLimits } from '../../host/engine/engine-limits.ts';
import { createEngine, type EntityEngine } from '../../host/engine/entity-engine.ts';
import type { Journal } from '../../host/engine/needs/journal.ts';
import { systemClock, systemDigest, systemEventLoop, systemRandom } from '../../host/system.ts';

export const CART = 'shopping-cart';
export const ITEM_ADDED = {
  manifest: 'cart-event',
  json: '{"type":"item-added","sku":"a","quantity":1}',
};

export function cartEngine(
  guest: Guest,
  journal: Journal,
  limits: Partial<EngineLimits>,
): EntityEngine {
  return createEngine({
    guest,
    journal,
    limits,
    clock: systemClock,
    random: systemRandom(),
    digest: systemDigest,
    eventLoop: systemEventLoop,
    faultLog: (_entity, _handler, fault) => {
      throw fault;
    },
  });
}
