/**
 * pdf.js makes matrices for drawing when it is loaded, by a native package that may be missing on a platform. Reading
 * text needs no drawing: anything that can be made with `new` will do.
 */
export function stubDrawing(): void {
  const scope: Record<string, unknown> = globalThis as unknown as Record<string, unknown>
  for (const name of ['DOMMatrix', 'ImageData', 'Path2D']) scope[name] ??= Object
}
