import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Locator } from 'playwright-core'
import type { Browser } from './chromium.ts'

const decoder = readFileSync(createRequire(import.meta.url).resolve('jsqr'), 'utf8')

/** Decodes a QR code from a screenshot, in a separate tab. @returns undefined if it cannot be read */
export async function readQrCode({ context }: Browser, code: Locator): Promise<string | undefined> {
  const png = (await code.screenshot()).toString('base64')
  const page = await context.newPage()
  try {
    await page.evaluate(decoder)
    return await page.evaluate<string | undefined>(`(${read})('data:image/png;base64,${png}')`)
  } finally {
    await page.close()
  }
}

/** Runs in the browser. */
const read = `async (address) => {
  const image = new Image()
  image.src = address
  await image.decode()
  const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d')
  canvas.drawImage(image, 0, 0)
  return jsQR(canvas.getImageData(0, 0, image.width, image.height).data, image.width, image.height)?.data
}`
