// Routes with CORS, checks and declared refusals: the same as guarded_routes.py.
import {
  before,
  defineEndpoint,
  get,
  post,
  refuse,
  respond,
} from '../../../../process-sdk/typescript/index.ts';

const loggedIn = before(
  ({ header }) => {
    const name = header('authorization')?.slice('Bearer '.length);
    return name === undefined ? refuse('log in', 'UNAUTHENTICATED') : { name };
  },
  {
    security: { scheme: 'bearer', realm: 'shop', description: 'a token of the shop' },
    refusals: { 403: 'it is not yours', 401: 'there is no valid token' },
  },
);
const owner = loggedIn.before(
  ({ parameter, header, queryText }, { given: { name } }) => {
    if (header('if-none-match') === '1')
      return respond(null, { status: 304, headers: { 'x-query': queryText } });
    if (parameter('id') !== name) return refuse('it is not yours', 'FORBIDDEN');
    return { owner: name };
  },
  { refusals: { 403: 'somebody else has it' } },
);
const broken = before(({ parameter }) => parameter('nothing'));

const guarded = defineEndpoint({
  prefix: '/guarded',
  access: 'internet',
  cors: true,
  routes: {
    open: get(
      '/open',
      {
        cors: {
          origins: ['https://Shop.example.com', 'https://*.example.com'],
          headers: ['X-Trace'],
          exposedHeaders: [],
          credentials: false,
        },
      },
      () => null,
    ),
    mine: owner.get(
      '/mine/{id}',
      { reply: 'text', refusals: { 409: 'it was sold', 401: 'there is no valid token' } },
      (_request, { given }) => given.owner,
    ),
    keyed: get(
      '/keyed',
      { security: { scheme: 'header', name: 'X-Key' }, refusals: { 429: 'too often' } },
      () => null,
    ),
    basic: loggedIn.post(
      '/basic',
      { security: { scheme: 'basic', description: 'a name and a password' } },
      () => null,
    ),
    broken: broken.get('/broken', {}, () => null),
  },
});
const inner = defineEndpoint({
  prefix: '/inner',
  access: 'services',
  cors: { origins: ['https://example.com'] },
  routes: {
    all: post('/all', { access: 'internet', cors: { credentials: true } }, () => null),
  },
});

export const guardedEndpoints = [guarded, inner];
