// The fields after a chunked body. A recipient that merges them into the head must not find a field there that frames
// the message or names its host (RFC 9110, section 6.5.1).
import { foldedName } from '../grammar/folded-name.ts';
import type { FailureCode } from '../messages/failure.ts';
import { FieldList, NO_FIELDS } from '../messages/field-list.ts';
import type { SectionReader } from './section-reader.ts';

const FORBIDDEN: ReadonlySet<string> = new Set(['content-length', 'host', 'transfer-encoding']);

export function trailerFields(section: SectionReader): FieldList | FailureCode {
  const flat: string[] = [];
  for (let index = 0; index < section.fieldCount; index++) {
    const name = section.fieldName(index);
    if (FORBIDDEN.has(foldedName(name.toLowerCase()))) return 'forbidden-trailer';
    flat.push(name, section.fieldValue(index));
  }
  return flat.length === 0 ? NO_FIELDS : new FieldList(flat);
}
