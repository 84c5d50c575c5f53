// The code that the compiler and the SDK write for replies from the state after the events.
import { afterAll, test } from 'vitest';
import { buildComponent } from '@svc/guest-sdk/compiler';
import { testEntity, testModule } from '@svc/guest-sdk/testing';
import { UserProjects } from './support/user-projects.ts';

const projects = await UserProjects.open();
afterAll(() => projects.remove());

const entity = (component: string, name: string, method: string) => `
@entity("${component}") class ${name} extends EventSourcedEntity<S, Ev> {
  empty(id: string): S { return new S(); }
  apply(state: S, e: Ev): S { if (e instanceof X) state.n += 1; return state; }
  @command("add") add(s: S): Effect<i32> { return this.persist(new X()).thenReplyFrom(this.${method}); }
  @command("go-on") goOn(s: S): Effect<i32> {
    const change = this.persist(new X());
    const effect = change.thenReplyFrom(this.${method});
    change.thenPersist(new X());
    return effect;
  }
  ${method}(state: S): i32 { return state.n; }
}
`;
const SOURCE = `import { Effect, EventSourcedEntity, register } from "@svc/guest-sdk";
@data class S { n: i32 = 0; }
@data abstract class Ev {}
@variant("x") class X extends Ev { n: i32 = 0; }
${entity('first', 'A', 'B_c')}${entity('second', 'A_B', 'c')}
register<A>(); register<A_B>();
`;

test('two entities of a file whose names and methods run together reply by themselves, and an effect takes no later event', async () => {
  const entryFile = await projects.write({ 'index.ts': SOURCE });
  const module = await testModule(
    (await buildComponent({ entryFile, optimizeLevel: 0 })).component,
  );
  for (const component of ['first', 'second']) {
    testEntity(module, component, 'a').when('add').thenReply(1);
    testEntity(module, component, 'b')
      .when('go-on')
      .thenEvents([{ type: 'x', n: 0 }])
      .thenReply(1);
  }
});
