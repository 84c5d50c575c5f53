// A request head from its scanned section: checks what concerns more than one byte.
import { isAuthority } from '../grammar/authority.ts';
import { readTarget } from '../grammar/request-target.ts';
import type { FailureCode } from '../messages/failure.ts';
import type { RequestHead } from '../messages/heads.ts';
import { HeadFields } from './head-fields.ts';
import type { SectionReader } from './section-reader.ts';

export function requestHead(section: SectionReader): RequestHead | FailureCode {
  const { method, target, isVersion10 } = section;
  if (method === 'CONNECT') return 'connect-refused';
  const read = readTarget(method, target);
  if (read === undefined) return 'bad-target';
  const fields = new HeadFields(section);
  const { hostCount, host } = fields;
  if (hostCount > 1) return 'repeated-host';
  if (hostCount === 0 && !isVersion10) return 'missing-host';
  if (hostCount === 1 && !isAuthority(host)) return 'bad-host';
  const framing = fields.framing(isVersion10);
  if (typeof framing === 'string') return framing;
  return {
    method,
    target,
    path: read.path,
    authority: read.authority ?? host,
    scheme: read.scheme,
    version: isVersion10 ? '1.0' : '1.1',
    fields: fields.list,
    framing,
    keepsOpen: !isVersion10 && !fields.closes,
    expectsContinue: !isVersion10 && fields.expectsContinue,
  };
}
