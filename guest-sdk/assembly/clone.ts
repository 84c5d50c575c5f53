// Deep copies of any value that has a JSON form. The type is known at compile time; the compiler adds `__svc_clone`
// to each data class. The copy and the value share no mutable object.

/** Returns a deep copy: changes to it do not change the value. Constructors are not run. */
export function clone<T>(value: T): T {
  if (isReference<T>()) {
    if (isNullable<T>()) {
      if (changetype<usize>(value) == 0) return value;
    }
    return changetype<T>(cloneReference<nonnull<T>>(changetype<nonnull<T>>(value)));
  } else {
    return value;
  }
}

function cloneReference<T>(value: T): T {
  if (isString<T>()) {
    return value;
  } else if (isArray<T>()) {
    const list = instantiate<T>(value.length);
    for (let i = 0; i < value.length; ++i) list[i] = clone<valueof<T>>(value[i]);
    return list;
  } else if (idof<T>() == idof<Date>()) {
    return changetype<T>(new Date(changetype<Date>(value).getTime()));
  } else if (idof<T>() == idof<Uint8Array>()) {
    return changetype<T>(changetype<Uint8Array>(value).slice());
  } else if (isDefined(value.__svc_clone)) {
    return value.__svc_clone();
  } else if (value instanceof Map) {
    const map = instantiate<T>();
    cloneMap(value, map);
    return map;
  } else {
    ERROR("clone is called with a type that has no JSON form");
  }
}

function cloneMap<V>(from: Map<string, V>, to: Map<string, V>): void {
  const keys = from.keys();
  for (let i = 0; i < keys.length; ++i) to.set(keys[i], clone<V>(from.get(keys[i])));
}
