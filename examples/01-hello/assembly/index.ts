// Answers without a memory: two routes, one in plain text, one in JSON.
import { register } from "@svc/guest-sdk";

/** `@data` gives a class its JSON form: every field, in this order. */
@data
class Greeting {
  name: string = "";
  text: string = "";
}

/** An endpoint without an access rule does not compile: who may call is never left open. */
@endpoint("/hello")
@access("internet")
class HelloEndpoint {
  @get
  hello(): string {
    return "Hello, world!";
  }

  @get("/{name}")
  greet(name: string): Greeting {
    return { name: name, text: `Hello, ${name}!` };
  }
}

register<HelloEndpoint>();
