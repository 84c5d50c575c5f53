// The schemas of the rules of endpoints and routes: who may call, from which pages, with which tokens, and how often. They are part of
// the schema of a module descriptor (module-descriptor-schema.ts).
import {
  ADMITTED_SERVICES_MAX,
  SERVICE_REFERENCE_LENGTH_MAX,
  SERVICE_REFERENCE_PATTERN,
} from '@svc/client';
import { Type } from 'typebox';
import { GRANTS_MAX, LIMIT_COUNT_MAX, LIMITS_MAX, REASON_LENGTH_MAX } from './route-limits.ts';

const closed = { additionalProperties: false } as const;
/** An origin in lower case; `originProblem` checks what the pattern cannot. */
const Origin = Type.String({ pattern: '^[a-z][a-z0-9+.-]*://[^/]+$', maxLength: 300 });
const HeaderName = Type.String({ pattern: "^[a-z0-9!#$%&'*+.^_`|~-]+$", maxLength: 100 });
/** The content of a quoted string of HTTP that needs no escape. */
const Realm = Type.String({ pattern: '^[ !#-\\[\\]-~]{1,100}$' });
/** Name of a role, or a scope (RFC 6749 §3.3). */
const Grant = Type.String({ pattern: '^[!#-\\[\\]-~]{1,255}$' });
/** Text for people in the OpenAPI document. */
export const Reason = Type.String({ minLength: 1, maxLength: REASON_LENGTH_MAX });

/** Limits that all have to let a request through. */
export const Limits = Type.Array(Type.Ref('LimitRule'), { minItems: 1, maxItems: LIMITS_MAX });

export const endpointRuleShapes = {
  /** Admitted callers. `services` without a list: any service of the project. */
  AccessRule: Type.Union([
    Type.Object({ allow: Type.Literal('internet') }, closed),
    Type.Object(
      {
        allow: Type.Literal('services'),
        services: Type.Optional(
          Type.Array(
            Type.String({
              pattern: SERVICE_REFERENCE_PATTERN,
              maxLength: SERVICE_REFERENCE_LENGTH_MAX,
            }),
            { minItems: 1, maxItems: ADMITTED_SERVICES_MAX },
          ),
        ),
      },
      closed,
    ),
    Type.Object({ allow: Type.Literal('local') }, closed),
    Type.Object({ allow: Type.Literal('nobody') }, closed),
  ]),
  /**
   * Allows pages of other origins to call, within what the operator allows. An absent field allows everything that
   * the operator allows.
   */
  Cors: Type.Object(
    {
      /** Narrows the operator's origins to those that equal one of these or match its wildcard. */
      origins: Type.Optional(Type.Array(Origin, { minItems: 1, maxItems: 100 })),
      /** Narrows the operator's request headers to these. */
      headers: Type.Optional(Type.Array(HeaderName, { maxItems: 100 })),
      /** Narrows the operator's response headers to these. */
      exposedHeaders: Type.Optional(Type.Array(HeaderName, { maxItems: 100 })),
      /** `false`: never with cookies, HTTP authentication or client certificates. */
      credentials: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
  /** The roles or scopes that a caller needs. */
  Requirement: Type.Object(
    {
      /** One of the names, or all of them. */
      match: Type.Union([Type.Literal('any'), Type.Literal('all')]),
      names: Type.Array(Grant, { minItems: 1, maxItems: GRANTS_MAX }),
    },
    closed,
  ),
  /** The runtime asks every admitted caller for a good access token, and for these roles and scopes of its principal. */
  BearerRule: Type.Object(
    {
      roles: Type.Optional(Type.Ref('Requirement')),
      scopes: Type.Optional(Type.Ref('Requirement')),
      /** True: the handler receives the token, because it sends it on to another service. */
      forwardsToken: Type.Optional(Type.Literal(true)),
    },
    closed,
  ),
  /**
   * A bucket of `count` tokens, which is filled evenly within the unit. A request takes a token; without one it is answered 429.
   */
  LimitRule: Type.Object(
    {
      count: Type.Integer({ minimum: 1, maximum: LIMIT_COUNT_MAX }),
      per: Type.Union([
        Type.Literal('second'),
        Type.Literal('minute'),
        Type.Literal('hour'),
        Type.Literal('day'),
      ]),
      /** Each subject of an issuer, each address, or each route has a bucket of its own. */
      by: Type.Union([Type.Literal('subject'), Type.Literal('address'), Type.Literal('route')]),
    },
    closed,
  ),
  /** How callers show who they are. It is a description: the handler judges what they send. */
  Security: Type.Union([
    Type.Object(
      {
        scheme: Type.Union([Type.Literal('bearer'), Type.Literal('basic')]),
        realm: Type.Optional(Realm),
        description: Type.Optional(Reason),
      },
      closed,
    ),
    Type.Object(
      {
        scheme: Type.Literal('header'),
        /** Header that has the key. */
        name: HeaderName,
        description: Type.Optional(Reason),
      },
      closed,
    ),
  ]),
};
