// PageButtons: the buttons below a list that comes in pages, for the page before and the next one. A list of one page has none.

/**
 * `pages`: the pages up to the displayed one, each as the number after which it begins. `next`: the number after which the next page
 * begins; null: there is none.
 */
export function PageButtons({
  pages,
  next,
  show,
}: {
  readonly pages: readonly number[];
  readonly next: number | null;
  readonly show: (pages: readonly number[]) => void;
}) {
  if (pages.length === 1 && next === null) return null;
  return (
    <p class="actions">
      <button
        type="button"
        class="quiet"
        disabled={pages.length === 1}
        onClick={() => show(pages.slice(0, -1))}
      >
        Previous
      </button>
      <button
        type="button"
        class="quiet"
        disabled={next === null}
        onClick={() => next !== null && show([...pages, next])}
      >
        Next
      </button>
    </p>
  );
}
