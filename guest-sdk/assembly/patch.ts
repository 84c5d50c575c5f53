// Patch<T> and NullablePatch<T>: fields of a data class that may be absent, as in the body of a PATCH. They read and
// write themselves; the compiler leaves an absent field out of the JSON text.
import { clone } from "./clone";
import { read, write } from "./codec";
import { JsonReader } from "./json-reader";
import { JsonWriter } from "./json-writer";

/** A field that is absent or has a value. `null` is refused. */
export class Patch<T> {
  /** Whether the field was given. */
  isPresent: bool = false;
  private given!: T;

  /** Creates a field with a value; `new Patch<T>()` is absent. */
  static of<T>(value: T): Patch<T> {
    const patch = new Patch<T>();
    patch.isPresent = true;
    patch.given = value;
    return patch;
  }

  /** The value. Aborts when the field is absent: check `isPresent` first. */
  get value(): T {
    if (!this.isPresent) throw new Error("the field is absent: ask isPresent first");
    return this.given;
  }

  /** Returns the value, or `current` when the field is absent. */
  orElse(current: T): T {
    return this.isPresent ? this.given : current;
  }

  __svc_decode(reader: JsonReader): void {
    this.isPresent = true;
    this.given = read<T>(reader);
  }

  __svc_encode(to: JsonWriter): void {
    write<T>(to, this.given);
  }

  __svc_clone(): Patch<T> {
    return this.isPresent ? Patch.of<T>(clone<T>(this.given)) : new Patch<T>();
  }
}

/** A field that is absent, null or has a value. */
export class NullablePatch<T> {
  /** Whether the field was given, as null or as a value. */
  isPresent: bool = false;
  /** Whether the field was given as null. */
  isNull: bool = false;
  private given!: T;

  /** Creates a field with a value; `new NullablePatch<T>()` is absent. */
  static of<T>(value: T): NullablePatch<T> {
    const patch = new NullablePatch<T>();
    patch.isPresent = true;
    patch.given = value;
    return patch;
  }

  /** Creates a field that is null. */
  static ofNull<T>(): NullablePatch<T> {
    const patch = new NullablePatch<T>();
    patch.isPresent = true;
    patch.isNull = true;
    return patch;
  }

  /** The value. Aborts when the field is absent or null: check `isPresent` and `isNull` first. */
  get value(): T {
    if (!this.isPresent || this.isNull) throw new Error("the field is absent or null: ask isPresent and isNull first");
    return this.given;
  }

  /** Returns the value, `whenNull` when it is null, or `current` when the field is absent. */
  orElse(current: T, whenNull: T): T {
    if (!this.isPresent) return current;
    return this.isNull ? whenNull : this.given;
  }

  __svc_decode(reader: JsonReader): void {
    this.isPresent = true;
    this.isNull = reader.tryNull();
    if (!this.isNull) this.given = read<T>(reader);
  }

  __svc_encode(to: JsonWriter): void {
    if (this.isNull) to.raw("null");
    else write<T>(to, this.given);
  }

  __svc_clone(): NullablePatch<T> {
    if (!this.isPresent) return new NullablePatch<T>();
    return this.isNull ? NullablePatch.ofNull<T>() : NullablePatch.of<T>(clone<T>(this.given));
  }
}
