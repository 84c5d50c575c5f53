// JsonTree: a JSON value as a collapsible tree. Numbers appear as they are written, long strings are shortened,
// and changes are marked. The caller may keep which nodes the user has expanded or collapsed, so that they stay so when
// another state is displayed.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { jsonGist, pathWithin, readJson, type JsonValue } from '../view/json-value.ts';
import { amountText } from '../view/number-text.ts';
import type { StateMarks } from '../view/state-marks.ts';
import { cutText, isCut, visibleLine } from '../view/visible-text.ts';
import { CopyButton } from './copy.tsx';
import { TextBlock } from './text-block.tsx';

/** Path → whether the user has expanded it (true) or collapsed it. */
export type Folds = ReadonlyMap<string, boolean>;

interface TreeProps {
  readonly marks?: StateMarks | undefined;
  readonly folds: Folds;
  /** Number of levels that are expanded by default; nodes around a change are expanded at any depth. */
  readonly openDepth: number;
  readonly fold: (path: string, isOpen: boolean) => void;
}

/** Number of members of a node that are displayed at first; a button displays ten times as many. */
const ITEMS_SHOWN = 100;

export function JsonTree({
  text,
  label,
  marks,
  folds: keptFolds,
  onFold,
  openDepth = 3,
}: {
  readonly text: string;
  readonly label: string;
  readonly marks?: StateMarks | undefined;
  readonly folds?: Folds;
  readonly onFold?: (path: string, isOpen: boolean) => void;
  readonly openDepth?: number;
}) {
  const [ownFolds, setOwnFolds] = useState<Folds>(new Map());
  const reading = readJson(text);
  if (!reading.ok) return <TextBlock text={text} label={label} />;
  const fold = onFold ?? ((path, isOpen) => setOwnFolds((now) => new Map(now).set(path, isOpen)));
  const tree = { marks, folds: keptFolds ?? ownFolds, openDepth, fold };
  return (
    <div class="json">
      <CopyButton text={text} what={label} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <div class="json-box" tabIndex={0} role="region" aria-label={label}>
        <Node value={reading.value} path="" depth={0} tree={tree} />
      </div>
    </div>
  );
}

interface NodeProps {
  readonly value: JsonValue;
  readonly path: string;
  readonly depth: number;
  readonly tree: TreeProps;
  readonly name?: ComponentChildren;
}

function Node({ value, path, depth, tree, name }: NodeProps) {
  const [shown, setShown] = useState(ITEMS_SHOWN);
  const mark = tree.marks?.kindAt(path);
  const markClass = mark === undefined ? '' : ` is-${mark}`;
  const inner = innerOf(value);
  if (inner === undefined || inner.length === 0)
    return (
      <div class={`json-line${markClass}`}>
        {name}
        <Leaf value={value} />
      </div>
    );
  const isOpen =
    tree.folds.get(path) ?? (tree.marks?.isAround(path) === true || depth < tree.openDepth);
  const [open, close] = value.kind === 'array' ? '[]' : '{}';
  return (
    <div class={`json-node${markClass}`}>
      <div class={`json-line ${isOpen ? '' : 'is-folded'}`}>
        <button
          type="button"
          class="fold"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Fold' : 'Open'} ${path === '' ? 'all' : visibleLine(path)}`}
          onClick={() => tree.fold(path, !isOpen)}
        />
        {name}
        {isOpen ? (
          <span class="sign">{open}</span>
        ) : (
          <>
            <span class="gist">{visibleLine(jsonGist(value))}</span>
            <span class="count">
              {amountText(inner.length, value.kind === 'array' ? 'item' : 'field')}
            </span>
          </>
        )}
      </div>
      {isOpen && (
        <>
          <div class="json-inner">
            {inner.slice(0, shown).map(([key, item]) => (
              <Node
                key={key}
                value={item}
                path={pathWithin(path, key)}
                depth={depth + 1}
                tree={tree}
                name={typeof key === 'number' ? <Index at={key} /> : <Key name={key} />}
              />
            ))}
            {inner.length > shown && (
              <button type="button" class="quiet" onClick={() => setShown(shown * 10)}>
                Show more of {amountText(inner.length, 'item')}
              </button>
            )}
          </div>
          <div class="json-line">
            <span class="sign">{close}</span>
          </div>
        </>
      )}
    </div>
  );
}

function innerOf(value: JsonValue): readonly (readonly [string | number, JsonValue])[] | undefined {
  if (value.kind === 'object') return value.entries;
  return value.kind === 'array' ? value.items.map((item, at) => [at, item]) : undefined;
}

function Key({ name }: { readonly name: string }) {
  return (
    <>
      <span class="key">{visibleLine(name)}</span>
      <span class="sign">: </span>
    </>
  );
}

function Index({ at }: { readonly at: number }) {
  return <span class="index">{at}</span>;
}

function Leaf({ value }: { readonly value: JsonValue }) {
  const [isWhole, setWhole] = useState(false);
  switch (value.kind) {
    case 'object':
      return <span class="sign">{'{}'}</span>;
    case 'array':
      return <span class="sign">[]</span>;
    case 'string':
      return (
        <span class="string">
          {visibleLine(JSON.stringify(isWhole ? value.value : cutText(value.value)))}
          {!isWhole && isCut(value.value) && (
            <button type="button" class="quiet" onClick={() => setWhole(true)}>
              Show all
            </button>
          )}
        </span>
      );
    case 'number':
      return <span class="numeral">{value.text}</span>;
    case 'literal':
      return <span class="literal">{value.text}</span>;
    default:
      return null;
  }
}
