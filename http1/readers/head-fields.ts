// The fields of a head as a list, with the values of those that frame the message or name its host. One pass: only
// fields whose names have the length of such a name are compared with it.
import { contentLength, listElements, transferCoding } from '../grammar/field-values.ts';
import { foldsInto } from '../grammar/folded-name.ts';
import type { FailureCode } from '../messages/failure.ts';
import { FieldList, NO_FIELDS, isSameName } from '../messages/field-list.ts';
import { CHUNKED, type Framing, NO_BODY } from '../messages/framing.ts';
import type { SectionReader } from './section-reader.ts';

const HOST = 'host';
const EXPECT = 'expect';
const CONNECTION = 'connection';
const CONTENT_LENGTH = 'content-length';
const TRANSFER_ENCODING = 'transfer-encoding';

export class HeadFields {
  readonly list: FieldList;
  hostCount = 0;
  /** Value of the last `Host`. */
  host = '';
  /** Whether `Connection` lists `close`. */
  closes = false;
  expectsContinue = false;
  #lengthCount = 0;
  #length = '';
  #encodingCount = 0;
  #encoding = '';
  /** Whether a field name has another character instead of the hyphen of a field that frames the message. */
  #isAmbiguous = false;

  constructor(section: SectionReader) {
    const flat: string[] = [];
    const count = section.fieldCount;
    for (let index = 0; index < count; index++) {
      const name = section.fieldName(index);
      const value = section.fieldValue(index);
      flat.push(name, value);
      this.#note(name, value);
    }
    this.list = count === 0 ? NO_FIELDS : new FieldList(flat);
  }

  /** Whether the fields say that there is a body of at least one byte, or of unknown length. */
  get announcesBody(): boolean {
    return this.#encodingCount > 0 || (this.#lengthCount > 0 && contentLength(this.#length) !== 0);
  }

  #note(name: string, value: string): void {
    switch (name.length) {
      case HOST.length:
        if (!isSameName(name, HOST)) return;
        this.hostCount++;
        this.host = value;
        return;
      case EXPECT.length:
        if (isSameName(name, EXPECT))
          this.expectsContinue ||= listElements(value).includes('100-continue');
        return;
      case CONNECTION.length:
        if (isSameName(name, CONNECTION)) this.closes ||= listsClose(value);
        return;
      case CONTENT_LENGTH.length:
        if (!this.#isFraming(name, CONTENT_LENGTH)) return;
        this.#lengthCount++;
        this.#length = value;
        return;
      case TRANSFER_ENCODING.length:
        if (!this.#isFraming(name, TRANSFER_ENCODING)) return;
        this.#encodingCount++;
        this.#encoding = value;
        return;
      default:
    }
  }

  #isFraming(name: string, expected: string): boolean {
    if (isSameName(name, expected)) return true;
    this.#isAmbiguous ||= foldsInto(name, expected);
    return false;
  }

  /** Returns how the message is framed, which is the same for every recipient, or why it is not. */
  framing(isVersion10: boolean): Framing | FailureCode {
    if (this.#isAmbiguous) return 'ambiguous-framing-field';
    if (this.#lengthCount > 1) return 'repeated-content-length';
    if (this.#encodingCount > 1) return 'repeated-transfer-encoding';
    if (this.#encodingCount === 1) {
      if (this.#lengthCount === 1) return 'length-and-chunked';
      if (isVersion10) return 'transfer-encoding-in-1.0';
      const coding = transferCoding(this.#encoding);
      if (coding === 'chunked') return CHUNKED;
      return coding === 'other' ? 'unsupported-transfer-coding' : 'bad-transfer-encoding';
    }
    if (this.#lengthCount === 0) return NO_BODY;
    const bytes = contentLength(this.#length);
    return bytes === undefined ? 'bad-content-length' : { kind: 'length', bytes };
  }
}

function listsClose(connection: string): boolean {
  // The two frequent values.
  if (connection === 'keep-alive') return false;
  return connection === 'close' || listElements(connection).includes('close');
}
