// ForwardingEntity is the base of decorators of a guest's entity. It passes every call on with all arguments, so that a
// decorator overrides only the methods that it needs. The compiler demands a method of the interface that is missing here.
//
// Invariant: an override takes its arguments as `...args` too, and so drops none that the interface gets later.
import type { GuestEntity } from '@svc/model/guest';

/** The arguments of a method of an entity, and its result. */
export type Args<Name extends EntityMethod> = Parameters<GuestEntity[Name]>;
export type Answer<Name extends EntityMethod> = ReturnType<GuestEntity[Name]>;
type EntityMethod = Exclude<keyof GuestEntity, 'lost'>;

export abstract class ForwardingEntity implements Required<GuestEntity> {
  protected readonly entity: GuestEntity;

  constructor(entity: GuestEntity) {
    this.entity = entity;
  }

  get lost(): boolean {
    return this.entity.lost;
  }

  apply(...args: Args<'apply'>): Answer<'apply'> {
    return this.entity.apply(...args);
  }

  command(...args: Args<'command'>): Answer<'command'> {
    return this.entity.command(...args);
  }

  query(...args: Args<'query'>): Answer<'query'> {
    return this.entity.query(...args);
  }

  reply(...args: Args<'reply'>): Answer<'reply'> {
    return this.entity.reply(...args);
  }

  snapshot(...args: Args<'snapshot'>): Answer<'snapshot'> {
    return this.entity.snapshot(...args);
  }

  close(...args: Args<'close'>): Answer<'close'> {
    return this.entity.close(...args);
  }
}
