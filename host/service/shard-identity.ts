// ShardIdentity: mutual TLS of one shard. The main thread reads and checks the certificates; a shard only takes them into use.
import assert from 'node:assert/strict';
import {
  CertificateGenerations,
  type CertificateSource,
} from '@svc/identity/certificate-generations';
import { type CertificateTexts, parseCertificates } from '@svc/identity/certificates';
import { MutualTls } from '../http/mutual-tls.ts';
import type { ShardIdentity } from '../shards/shard-messages.ts';

export interface ServedIdentity {
  readonly tls: MutualTls;
  /** The certificates in use. */
  readonly certificates: CertificateSource;
  /** Takes new certificates into use. */
  readonly renew: (texts: CertificateTexts) => void;
}

export function shardIdentity(
  { project, rules }: ShardIdentity,
  texts: CertificateTexts,
): ServedIdentity {
  // They may have expired since the main thread has taken them into use. It has logged that, and a shard that does
  // not start would not be better.
  const first = parseCertificates(texts, undefined);
  assert(!('problem' in first), 'the main thread has handed on certificates that cannot be used');
  const generations = new CertificateGenerations(first);
  return {
    tls: new MutualTls(generations, project, rules),
    certificates: generations,
    renew: (renewed) => void generations.offer(renewed, undefined),
  };
}
