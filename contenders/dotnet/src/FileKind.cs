using System;
using System.ComponentModel;
using System.IO;
using System.Runtime.InteropServices;

/// <summary>
/// Whether a file is a regular one, by statx(2): .NET does not say it, and opening a pipe would
/// wait until something writes into it.
/// </summary>
internal static class FileKind
{
    private const int CurrentFolder = -100;
    private const int DoNotFollow = 0x100;
    private const uint TypeWanted = 1;
    private const int TypeMask = 0xF000;
    private const int RegularType = 0x8000;
    private const int NoSuchFile = 2;
    /// <summary>A `struct statx`, and where it has the mode, in 16 bits.</summary>
    private const int StatusBytes = 256;
    private const int ModeOffset = 28;

    internal static unsafe bool IsRegular(string path)
    {
        byte* status = stackalloc byte[StatusBytes];
        if (GetStatus(CurrentFolder, path, DoNotFollow, TypeWanted, status) == 0)
        {
            return (*(ushort*)(status + ModeOffset) & TypeMask) == RegularType;
        }
        int error = Marshal.GetLastWin32Error();
        Exception cause = error == NoSuchFile ? new FileNotFoundException() : (Exception)new Win32Exception(error);
        throw new FileFailure(path, cause);
    }

    [DllImport("libc", EntryPoint = "statx", SetLastError = true)]
    private static extern unsafe int GetStatus(
        int folder, [MarshalAs(UnmanagedType.LPUTF8Str)] string path, int flags, uint mask, byte* status);
}
