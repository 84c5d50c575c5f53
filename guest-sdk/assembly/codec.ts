// Converts values of any supported type to and from JSON. The type is known at compile time; the compiler adds
// `__svc_encode` and `__svc_decode` to each @data and @variant class, and `__svc_readCase` to sum types. Decoding
// never runs a constructor: it sets every field.
import { readBytes, writeBytes } from "./base64";
import { readDate, writeDate } from "./date-time";
import { JsonReader } from "./json-reader";
import { JsonWriter } from "./json-writer";

const writer = new JsonWriter();

/** Returns the JSON text of a value, as it is stored and sent. */
export function toJson<T>(value: T): string {
  writer.reset();
  write<T>(writer, value);
  return writer.toString();
}

/** Reads a value from the whole text. Check `reader.failed` before you use the value. */
export function fromJson<T>(reader: JsonReader): T {
  reader.begin();
  const value = read<T>(reader);
  reader.finish();
  return value;
}

/** Creates an object whose fields are all zero, for a decoder to fill. */
export function blank<T>(): T {
  return changetype<T>(__new(offsetof<T>(), idof<T>()));
}

export function read<T>(reader: JsonReader): T {
  if (isReference<T>()) {
    if (isNullable<T>()) {
      if (reader.tryNull() || reader.failed) return changetype<T>(0);
    } else if (reader.failed) return changetype<T>(0);
    return changetype<T>(readReference<nonnull<T>>(reader));
  } else if (isBoolean<T>()) {
    return <T>reader.readBool();
  } else if (isInteger<T>()) {
    if (isDefined(changetype<T>(0).__svc_readEnum)) return <T>(<T>0).__svc_readEnum(reader);
    else if (sizeof<T>() == 8) return reader.readBigInteger<T>();
    else return reader.readInteger<T>();
  } else if (isFloat<T>()) {
    if (sizeof<T>() == 8) return <T>reader.readDouble();
    else return <T>reader.readFloat();
  } else {
    ERROR("this type has no JSON form");
  }
}

function readReference<T>(reader: JsonReader): T {
  if (isString<T>()) {
    return changetype<T>(reader.readString());
  } else if (isArray<T>()) {
    const list = instantiate<T>();
    let index = 0;
    let more = reader.beginArray();
    while (more) {
      const item = read<valueof<T>>(reader);
      if (reader.failed) {
        reader.withinItem(index);
        return list;
      }
      list.push(item);
      ++index;
      more = reader.nextItem();
    }
    return list;
  } else if (idof<T>() == idof<Date>()) {
    return changetype<T>(readDate(reader));
  } else if (idof<T>() == idof<Uint8Array>()) {
    return changetype<T>(readBytes(reader));
  } else if (isDefined(changetype<T>(0).__svc_readCase) && !isDefined(changetype<T>(0).__svc_isCase)) {
    return changetype<T>(0).__svc_readCase(reader);
  } else if (isDefined(changetype<T>(0).__svc_decode)) {
    const value = blank<T>();
    value.__svc_decode(reader);
    return value;
  } else {
    const map = instantiate<T>();
    readMap(reader, map);
    return map;
  }
}

function readMap<V>(reader: JsonReader, map: Map<string, V>): void {
  let more = reader.beginObject();
  while (more) {
    const key = reader.key();
    if (map.has(key)) {
      reader.fail("is given twice");
      reader.withinKey(key);
      return;
    }
    const value = read<V>(reader);
    if (reader.failed) {
      reader.withinKey(key);
      return;
    }
    map.set(key, value);
    more = reader.nextKey();
  }
}

export function write<T>(to: JsonWriter, value: T): void {
  if (isReference<T>()) {
    if (isNullable<T>()) {
      if (changetype<usize>(value) == 0) {
        to.raw("null");
        return;
      }
    }
    writeReference<nonnull<T>>(to, changetype<nonnull<T>>(value));
  } else if (isBoolean<T>()) {
    to.bool(<bool>value);
  } else if (isInteger<T>()) {
    if (isDefined(value.__svc_writeEnum)) value.__svc_writeEnum(to);
    else to.integer<T>(value);
  } else if (isFloat<T>()) {
    to.double(<f64>value);
  } else {
    ERROR("toJson is called with a type that has no JSON form");
  }
}

function writeReference<T>(to: JsonWriter, value: T): void {
  if (isString<T>()) {
    to.string(changetype<string>(value));
  } else if (idof<T>() == idof<Date>()) {
    writeDate(to, changetype<Date>(value));
  } else if (idof<T>() == idof<Uint8Array>()) {
    writeBytes(to, changetype<Uint8Array>(value));
  } else {
    to.enter();
    writeNested<T>(to, value);
    to.leave();
  }
}

function writeNested<T>(to: JsonWriter, value: T): void {
  if (isArray<T>()) {
    to.raw("[");
    for (let i = 0; i < value.length; ++i) {
      if (i > 0) to.raw(",");
      write<valueof<T>>(to, value[i]);
    }
    to.raw("]");
  } else if (isDefined(value.__svc_encode)) {
    value.__svc_encode(to);
  } else if (value instanceof Map) {
    writeMap(to, value);
  } else {
    ERROR("toJson is called with a type that has no JSON form");
  }
}

function writeMap<V>(to: JsonWriter, map: Map<string, V>): void {
  const keys = map.keys();
  to.raw("{");
  for (let i = 0; i < keys.length; ++i) {
    if (i > 0) to.raw(",");
    const key = keys[i];
    to.string(key);
    to.raw(":");
    write<V>(to, map.get(key));
  }
  to.raw("}");
}
