// A response head from its scanned section: checks what concerns more than one byte.
import type { FailureCode } from '../messages/failure.ts';
import { FieldList } from '../messages/field-list.ts';
import { type Framing, NO_BODY, UNTIL_CLOSE } from '../messages/framing.ts';
import type { ResponseHead } from '../messages/heads.ts';
import { HeadFields } from './head-fields.ts';
import type { SectionReader } from './section-reader.ts';

const SWITCHING_PROTOCOLS = 101;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;
const CONTENT_LENGTH = 'content-length';

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
  if (isInformational(status) && fields.announcesBody) return 'informational-with-body';
  // Nothing can follow the body that a 204 response announces and may not have: it would be read as the next response.
  const isUnusable = status === NO_CONTENT && fields.announcesBody;
  const mayHaveLength = !isInformational(status) && status !== NO_CONTENT;
  const framing = responseFraming(announced, status, method);
  return {
    status,
    reason: section.reason,
    version: isVersion10 ? '1.0' : '1.1',
    fields: mayHaveLength ? fields.list : withoutLength(fields.list),
    framing,
    keepsOpen: !isVersion10 && !fields.closes && !isUnusable && framing.kind !== 'until-close',
  };
}

/** Drops a length that the status forbids (RFC 9110, section 8.6). A client that believed it would wait for a body. */
function withoutLength(fields: FieldList): FieldList {
  if (!fields.has(CONTENT_LENGTH)) return fields;
  const { flat } = fields;
  const isLength = (index: number) => fields.isNamed(index >> 1, CONTENT_LENGTH);
  return new FieldList(flat.filter((_, index) => !isLength(index)));
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
