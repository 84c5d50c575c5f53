// Principal: who sent a request, by an access token that the runtime has verified. A module cannot verify tokens itself, and no request
// can bring a principal: the runtime sets the header that it is read from, and drops those that arrive.
import { JsonReader } from "./json-reader";

export class Principal {
  /** Says for all time who the caller is, among those of the same issuer. */
  subject: string = "";
  /** URL of the identity provider. */
  issuer: string = "";
  /** Name for people; null when the token has none. It is not unique, and its owner may choose it. */
  name: string | null = null;
  /** Null unless the identity provider has verified that the address is the caller's. */
  email: string | null = null;
  roles: string[] = [];
  scopes: string[] = [];
  /** All claims of the token, as JSON text. */
  claims: string = "";

  hasRole(role: string): bool {
    return this.roles.includes(role);
  }

  hasScope(scope: string): bool {
    return this.scopes.includes(scope);
  }

  static __svc_of(text: string): Principal {
    const principal = new Principal();
    const reader = new JsonReader(text);
    let more = reader.beginObject();
    while (more) {
      if (reader.keyIs("subject")) principal.subject = reader.readString();
      else if (reader.keyIs("issuer")) principal.issuer = reader.readString();
      else if (reader.keyIs("name")) principal.name = optionalText(reader);
      else if (reader.keyIs("email")) principal.email = optionalText(reader);
      else if (reader.keyIs("roles")) principal.roles = texts(reader);
      else if (reader.keyIs("scopes")) principal.scopes = texts(reader);
      else if (reader.keyIs("claims")) principal.claims = reader.readString();
      else reader.skipValue();
      more = !reader.failed && reader.nextKey();
    }
    if (reader.failed) throw new Error("the principal of the request cannot be read: " + reader.message);
    return principal;
  }
}

function optionalText(reader: JsonReader): string | null {
  return reader.tryNull() ? null : reader.readString();
}

function texts(reader: JsonReader): string[] {
  const list: string[] = [];
  let more = reader.beginArray();
  while (more) {
    list.push(reader.readString());
    more = reader.nextItem();
  }
  return list;
}
