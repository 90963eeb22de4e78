/**
 * pdf.js instantiates drawing classes when it is loaded, from a native package that may be missing on a platform.
 * Extracting text does not draw, so any constructor will do.
 */
export function stubDrawing(): void {
  const scope: Record<string, unknown> = globalThis as unknown as Record<string, unknown>
  for (const name of ['DOMMatrix', 'ImageData', 'Path2D']) scope[name] ??= Object
}
