// A program in a process of its own whose routes ask for access tokens, and which reads its configuration.
import { Type } from 'typebox';
import {
  defineConfiguration,
  defineEndpoint,
  get,
  serveProcess,
} from '../../../../process-sdk/typescript/index.ts';

const configuration = defineConfiguration(
  Type.Object({ fee: Type.String(), apiKey: Type.String() }),
  { secrets: ['apiKey'] },
);
const Member = Type.Object({
  subject: Type.String(),
  roles: Type.Array(Type.String()),
  fee: Type.String(),
  keyLength: Type.Integer({ minimum: 0, maximum: 1_000 }),
  sawToken: Type.Boolean(),
});
const Visitor = Type.Object({ isKnown: Type.Boolean() });

const members = defineEndpoint({
  prefix: '/members',
  access: 'internet',
  bearer: true,
  routes: {
    me: get('/me', { reply: Member }, async ({ principal, header }, { settings }) => {
      const { fee, apiKey } = await settings(configuration);
      const { subject, roles } = principal!;
      const sawToken = header('authorization') !== undefined;
      return { subject, roles: [...roles], fee, keyLength: apiKey.length, sawToken };
    }),
    admin: get(
      '/admin',
      { reply: Visitor, bearer: { roles: ['admin', 'owner'] } },
      ({ principal }) => ({ isKnown: principal !== null }),
    ),
  },
});
const visitors = defineEndpoint({
  prefix: '/visitors',
  access: 'internet',
  routes: {
    me: get('/me', { reply: Visitor }, ({ principal }) => ({ isKnown: principal !== null })),
  },
});

const { address } = await serveProcess({ endpoints: [members, visitors], configuration });
console.log(`listening at ${address}`);
