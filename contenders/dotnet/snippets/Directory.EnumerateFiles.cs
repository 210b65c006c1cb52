// usual: yes
using System.IO;

static class DirectoryEnumerateFiles
{
    // Counts newlines of every file below a folder. Links are not followed.
    public static long Newlines(string folder)
    {
        var wholeTree = new EnumerationOptions
        {
            RecurseSubdirectories = true,
            AttributesToSkip = FileAttributes.ReparsePoint,
            IgnoreInaccessible = false,
        };
        long newlines = 0;
        foreach (string path in Directory.EnumerateFiles(folder, "*", wholeTree))
        {
            // Pipes have no length, and .NET has no other sign of them.
            if (new FileInfo(path).Length > 0)
            {
                newlines += Scan.Count<byte>(File.ReadAllBytes(path), (byte)'\n');
            }
        }
        return newlines;
    }
}
