// What every store of views keeps of `host/engine/needs/views.ts`.
import { afterEach, beforeEach, describe } from 'vitest';
import { indexTests } from './view-store/index-tests.ts';
import { modelTests } from './view-store/model-tests.ts';
import { pageTests } from './view-store/page-tests.ts';
import { rowTests } from './view-store/row-tests.ts';
import { type MakeStore, ViewsUnderTest } from './view-store/views-under-test.ts';
import { walkTests } from './view-store/walk-tests.ts';

export function viewStoreSuite(place: string, make: MakeStore): void {
  describe(`views stored ${place}`, () => {
    const views = new ViewsUnderTest(make);
    beforeEach(() => views.use());
    afterEach(() => views.discard());

    rowTests(views);
    walkTests(views);
    pageTests(views);
    indexTests(views);
    modelTests(views);
  });
}
