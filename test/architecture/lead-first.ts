import { exportedNames, importedNames, type Source } from './exports.ts'

/** Shorter files are seen at a glance. */
const MIN_LINES = 100
const MAX_SHARE = 0.4

const IMPORT = /^(?:import |\} from )/

/**
 * Files of `folder` whose first export that another file of the folder imports stands below the first 40 % of the lines after the
 * imports, as `path: line`. A file starts with what its name promises; its helpers follow in the order of their use.
 */
export function lateLeads(sources: readonly Source[], folder: string): string[] {
  const files = sources.filter(({ path }) => path.startsWith(folder))
  const imported = new Set(files.flatMap(importedNames))
  return files.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n')
    const start = lines.findLastIndex((line) => IMPORT.test(line)) + 1
    const lead = exportedNames(text).find(({ name }) => imported.has(`${path}: ${name}`) || imported.has(`${path}: *`))
    if (lead === undefined) return []
    const above = text.slice(0, lead.index).split('\n').length - 1
    const isLate = lines.length >= MIN_LINES && above - start > MAX_SHARE * (lines.length - start)
    return isLate ? [`${path}: ${above + 1}`] : []
  })
}
