import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Impact = 'minor' | 'moderate' | 'serious' | 'critical'
type AxeResults = { violations: { id: string; nodes: { html: string; impact: Impact }[] }[] }

/**
 * The violations of all axe-core rules. The script is evaluated, because the page's policy blocks a script tag.
 * @param impact only those with this impact
 */
export async function accessibilityViolations(page: Page, impact?: Impact): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async (wanted) => {
    const { violations } = await (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run()
    return violations.flatMap(({ id, nodes }) =>
      nodes.filter((node) => wanted === undefined || node.impact === wanted).map(({ html }) => `${id}: ${html}`),
    )
  }, impact)
}
