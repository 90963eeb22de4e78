import type { Laboratory } from './certification.ts'

/**
 * Where a laboratory answers for one report's number; null where no page is known that takes a number alone.
 * GIA: the Certification API's own example. IGI, HRD, GCAL: the addresses by which several shops and inventories with
 * public sources link their stones (November 2026).
 * AGS closed at the end of 2022 (https://www.jckonline.com/editorial-article/ags-laboratories-merge-gia/); its former
 * page wanted the weight too. IIDGR is now De Beers Institute of Diamonds; no public link by number was found.
 */
const REPORT_PAGES: Readonly<Record<Laboratory, string | null>> = {
  GIA: 'https://www.gia.edu/report-check?reportno=',
  AGS: null,
  HRD: 'https://my.hrdantwerp.com/?record_number=',
  IGI: 'https://www.igi.org/verify-your-report/?r=',
  IIDGR: null,
  GCAL: 'https://www.gcalusa.com/certificate-search.html?certificate_id=',
}

/** The laboratory's report-check page for a number, null without a number or where no such page is known. */
export function reportPage(laboratory: Laboratory, number: string | null): string | null {
  const page = REPORT_PAGES[laboratory]
  return page === null || number === null ? null : page + encodeURIComponent(number.toWellFormed())
}
