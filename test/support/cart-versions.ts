// CartVersions: the project of the cart in a folder of a test, and later versions of it.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sources } from './compile-fixture.ts';

const CART = join(import.meta.dirname, '..', '..', 'fixtures', 'shopping-cart');
const REMOVE_ROUTE = `  @del("/{id}")
  remove(id: string): Result<Done> {
    return new ShoppingCartClient(id).remove();
  }
`;

export class CartVersions {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    cpSync(CART, folder, { recursive: true });
  }

  /** Answers say from now on how many different items a cart has. */
  countItems(): void {
    this.#replace(
      'cart.ts',
      '  items: Item[] = [];\n  checkedOut',
      '  items: Item[] = [];\n  count: i32 = 0;\n  checkedOut',
    );
    this.#replace(
      'cart.ts',
      'items: state.items, checkedOut',
      'items: state.items, count: state.items.length, checkedOut',
    );
  }

  /** The refusal of a quantity has other words from now on. Nothing else changes, so both versions understand each other. */
  rewordRefusal(): void {
    this.#replace('cart.ts', 'quantity: must be positive', 'quantity: must be at least 1');
  }

  /** An item has no note from now on, so that this version and the former one write the input of a command in different ways. */
  dropNote(): void {
    this.#replace('cart.ts', '  @optional note: string = "";\n', '');
  }

  /** The route that deletes a cart is not there from now on, which the check of an upgrade finds. */
  dropRemoval(): void {
    this.#replace('cart-endpoint.ts', REMOVE_ROUTE, '');
  }

  /** The sources of its module as they are now. */
  sources(): Sources {
    const assembly = join(this.folder, 'assembly');
    return new Map(
      readdirSync(assembly).map((name) => [name, readFileSync(join(assembly, name), 'utf8')]),
    );
  }

  describe(text: string): void {
    writeFileSync(join(this.folder, 'service.yaml'), text);
  }

  #replace(name: string, text: string, by: string): void {
    const file = join(this.folder, 'assembly', name);
    const source = readFileSync(file, 'utf8');
    if (!source.includes(text)) throw new Error(`${name} of the cart has no ${text}`);
    writeFileSync(file, source.replace(text, by));
  }
}
