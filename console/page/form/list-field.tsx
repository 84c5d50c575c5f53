// ListField: the fields of a list and of a map: rows that the user adds and removes. The rows of a list can
// also be moved up.
import type { Draft } from './draft.ts';
import { emptyDraft } from './draft.ts';
import { Frame, type ListProps, type MapProps } from './field-frame.tsx';
import { pathWithin } from '../view/json-value.ts';
import { amountText } from '../view/number-text.ts';
import { Icon } from '../parts/icon.tsx';

export function ListField({ label, draft, type, beside, Inner, ...rest }: ListProps) {
  if (!('items' in type)) return null;
  const { items } = draft;
  const set = (next: readonly Draft[]) => rest.onChange({ kind: 'list', items: next });
  const name = label || 'item';
  return (
    <Frame
      label={label}
      beside={
        <>
          <span class="dim">{amountText(items.length, 'item')}</span>
          {beside}
        </>
      }
    >
      {items.map((item, at) => (
        <div class="row" key={at}>
          <Inner
            {...rest}
            id={`${rest.id}-${at}`}
            label={`${name} ${at + 1}`}
            schema={type.items}
            draft={item}
            path={pathWithin(rest.path, at)}
            onChange={(next) => set(items.with(at, next))}
          />
          <div class="row-actions">
            <button
              type="button"
              class="icon-button"
              aria-label={`Move ${name} ${at + 1} up`}
              disabled={at === 0}
              onClick={() => set(items.with(at, items[at - 1]!).with(at - 1, item))}
            >
              <Icon name="up" />
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label={`Remove ${name} ${at + 1}`}
              onClick={() => set(items.toSpliced(at, 1))}
            >
              <Icon name="remove" />
            </button>
          </div>
        </div>
      ))}
      <button
        type="button"
        class="quiet"
        aria-label={`Add to ${name}`}
        onClick={() => set([...items, emptyDraft(type.items, rest.types)])}
      >
        <Icon name="add" /> Add
      </button>
    </Frame>
  );
}

export function MapField({ label, draft, type, beside, Inner, ...rest }: MapProps) {
  if (!('additionalProperties' in type)) return null;
  const { entries } = draft;
  const set = (next: typeof entries) => rest.onChange({ kind: 'map', entries: next });
  const name = label || 'entry';
  return (
    <Frame
      label={label}
      beside={
        <>
          <span class="dim">{amountText(entries.length, 'entry', 'entries')}</span>
          {beside}
        </>
      }
    >
      {entries.map(({ key, value }, at) => (
        <div class="row is-entry" key={at}>
          <div class="field">
            <label for={`${rest.id}-key-${at}`}>key</label>
            <input
              id={`${rest.id}-key-${at}`}
              type="text"
              value={key}
              onInput={(event) => set(entries.with(at, { key: event.currentTarget.value, value }))}
            />
          </div>
          <Inner
            {...rest}
            id={`${rest.id}-value-${at}`}
            label="value"
            schema={type.additionalProperties}
            draft={value}
            path={pathWithin(rest.path, key)}
            onChange={(next) => set(entries.with(at, { key, value: next }))}
          />
          <div class="row-actions">
            <button
              type="button"
              class="icon-button"
              aria-label={`Remove ${name} ${key}`}
              onClick={() => set(entries.toSpliced(at, 1))}
            >
              <Icon name="remove" />
            </button>
          </div>
        </div>
      ))}
      <button
        type="button"
        class="quiet"
        aria-label={`Add to ${name}`}
        onClick={() =>
          set([
            ...entries,
            {
              key: '',
              value: emptyDraft(type.additionalProperties, rest.types),
            },
          ])
        }
      >
        <Icon name="add" /> Add
      </button>
    </Frame>
  );
}
