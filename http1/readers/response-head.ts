// A response head from its scanned section: checks what concerns more than one byte.
import type { FailureCode } from '../messages/failure.ts';
import { type Framing, NO_BODY, UNTIL_CLOSE } from '../messages/framing.ts';
import type { ResponseHead } from '../messages/heads.ts';
import { HeadFields } from './head-fields.ts';
import type { SectionReader } from './section-reader.ts';

const SWITCHING_PROTOCOLS = 101;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

export function isInformational(status: number): boolean {
  return status < 200;
}

/** `method` is that of the request that is answered. */
export function responseHead(section: SectionReader, method: string): ResponseHead | FailureCode {
  const { status, isVersion10 } = section;
  if (status === SWITCHING_PROTOCOLS) return 'switching-protocols';
  const fields = new HeadFields(section);
  const announced = fields.framing(isVersion10);
  if (typeof announced === 'string') return announced;
  // Nothing can follow the body that a 204 response announces and may not have: it would be read as the next response.
  const isUnusable = status === NO_CONTENT && fields.announcesBody;
  if (isInformational(status) && fields.announcesBody) return 'informational-with-body';
  const framing = responseFraming(announced, status, method);
  return {
    status,
    reason: section.reason,
    version: isVersion10 ? '1.0' : '1.1',
    fields: fields.list,
    framing,
    keepsOpen: !isVersion10 && !fields.closes && !isUnusable && framing.kind !== 'until-close',
  };
}

function responseFraming(announced: Framing, status: number, method: string): Framing {
  const hasNoBody =
    isInformational(status) ||
    status === NO_CONTENT ||
    status === NOT_MODIFIED ||
    method === 'HEAD';
  if (hasNoBody) return NO_BODY;
  return announced.kind === 'none' ? UNTIL_CLOSE : announced;
}
