// The events of the user directory of fixtures/user-directory in TypeScript: every stored type, with the same
// manifests.
import { Type } from 'typebox';
import { createEmbeddedGuest } from '../../../components/embedded-guest.ts';
import { defineEntity } from '../../../components/entity-definition.ts';

const DateTime = Type.String({ format: 'date-time' });
const Bytes = Type.String({ contentEncoding: 'base64' });
const Role = Type.Enum(['Guest', 'Member', 'Admin']);
const integer = (bits: number, isSigned: boolean) =>
  Type.Integer(
    isSigned
      ? { minimum: -(2 ** (bits - 1)), maximum: 2 ** (bits - 1) - 1 }
      : { minimum: 0, maximum: 2 ** bits - 1 },
  );
const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const Contact = Type.Cyclic(
  {
    Contact: Type.Union([
      Type.Object({ type: Type.Literal('mail'), address: Type.String() }),
      Type.Object({
        type: Type.Literal('phone'),
        number: Type.String(),
        extension: integer(16, false),
      }),
      Type.Object({ type: Type.Literal('any-of'), ways: Type.Array(Type.Ref('Contact')) }),
    ]),
  },
  'Contact',
);
const Address = Type.Object({
  street: Type.String(),
  city: Type.String(),
  position: Type.Array(Type.Number()),
});
const Profile = Type.Object({
  name: Type.String(),
  nickname: nullable(Type.String()),
  contact: Contact,
  address: nullable(Address),
  bornAt: nullable(DateTime),
  offsetMinutes: integer(16, true),
  floor: integer(8, true),
  desk: integer(8, false),
  badge: Type.BigInt({ minimum: 0n }),
  tags: Type.Array(Type.String(), { default: [] }),
  attributes: Type.Record(Type.String(), Type.String(), { default: {} }),
});
const DatedRole = Type.Object({ value: Role, since: DateTime });
const User = Type.Object({
  number: Type.BigInt(),
  profile: Profile,
  role: DatedRole,
  registeredAt: DateTime,
  active: Type.Boolean(),
  logins: integer(32, false),
  lastFloor: integer(32, true),
  score: Type.Number(),
  picture: nullable(Bytes),
  projects: Type.Record(Type.String(), Type.Array(DatedRole)),
});
const DirectoryState = Type.Object({ nextNumber: Type.BigInt(), users: Type.Array(User) });
type DirectoryState = Type.StaticDecode<typeof DirectoryState>;

const DirectoryEvent = Type.Union([
  Type.Object({
    type: Type.Literal('user-registered'),
    number: Type.BigInt(),
    profile: Profile,
    at: DateTime,
  }),
  Type.Object({
    type: Type.Literal('role-given'),
    number: Type.BigInt(),
    role: Role,
    at: DateTime,
    project: nullable(Type.String()),
  }),
  Type.Object({ type: Type.Literal('picture-changed'), number: Type.BigInt(), picture: Bytes }),
  Type.Object({
    type: Type.Literal('user-seen'),
    number: Type.BigInt(),
    floor: integer(32, true),
    score: Type.Number(),
  }),
  Type.Object({ type: Type.Literal('user-left'), number: Type.BigInt() }),
]);
const GiveRole = Type.Object({
  number: Type.BigInt(),
  role: Role,
  project: nullable(Type.String()),
});
const ChangePicture = Type.Object({ number: Type.BigInt(), picture: Bytes });
const See = Type.Object({ number: Type.BigInt(), floor: integer(32, true), score: Type.Number() });

const iso = (ms: number) => new Date(ms).toISOString();

export const directory = defineEntity({
  component: 'user-directory',
  state: { manifest: 'directory', schema: DirectoryState },
  event: { manifest: 'directory-event', schema: DirectoryEvent },
  empty: (): DirectoryState => ({ nextNumber: 1n, users: [] }),
  apply(state, event) {
    if (event.type === 'user-registered') {
      const { number, profile, at } = event;
      state.users.push({
        number,
        profile,
        role: { value: 'Guest', since: at },
        registeredAt: at,
        active: true,
        logins: 0,
        lastFloor: 0,
        score: 0,
        picture: null,
        projects: {},
      });
      state.nextNumber = number + 1n;
      return state;
    }
    const user = state.users.find(({ number }) => number === event.number)!;
    switch (event.type) {
      case 'role-given': {
        const role = { value: event.role, since: event.at };
        if (event.project === null) user.role = role;
        else (user.projects[event.project] ??= []).push(role);
        break;
      }
      case 'picture-changed':
        user.picture = event.picture;
        break;
      case 'user-seen':
        user.logins++;
        user.lastFloor = event.floor;
        user.score = event.score;
        break;
      case 'user-left':
        user.active = false;
        break;
    }
    return state;
  },
  commands: {
    register: {
      input: Profile,
      reply: Type.BigInt(),
      handle: ({ nextNumber: number }, profile, context) =>
        context
          .persist({ type: 'user-registered', number, profile, at: iso(context.nowMs) })
          .thenReply(number),
    },
    giveRole: {
      input: GiveRole,
      reply: Role,
      handle: (state, { number, role, project }, context) =>
        has(state, number)
          ? context
              .persist({ type: 'role-given', number, role, at: iso(context.nowMs), project })
              .thenReply(role)
          : context.refuse(`there is no user ${number}`, 'NOT_FOUND'),
    },
    changePicture: {
      input: ChangePicture,
      reply: Bytes,
      handle: (state, { number, picture }, context) =>
        has(state, number)
          ? context.persist({ type: 'picture-changed', number, picture }).thenReply(picture)
          : context.refuse(`there is no user ${number}`, 'NOT_FOUND'),
    },
    see: {
      input: See,
      reply: Type.Boolean(),
      handle: (state, { number, floor, score }, context) =>
        has(state, number)
          ? context.persist({ type: 'user-seen', number, floor, score }).thenReply(true)
          : context.reply(false),
    },
    leave: {
      input: Type.BigInt(),
      handle: (state, number, context) =>
        has(state, number)
          ? context.persist({ type: 'user-left', number }).thenReply()
          : context.refuse(`there is no user ${number}`, 'NOT_FOUND'),
    },
  },
});

function has(
  { users }: { readonly users: readonly { readonly number: bigint }[] },
  wanted: bigint,
): boolean {
  return users.some(({ number }) => number === wanted);
}

export const directoryGuest = () => createEmbeddedGuest({ entities: [directory] });
