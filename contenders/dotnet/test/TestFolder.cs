using System;
using System.IO;

/// <summary>A folder for the files of a test, which is removed with them.</summary>
internal sealed class TestFolder : IDisposable
{
    private readonly string folder = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());

    internal TestFolder()
    {
        Directory.CreateDirectory(folder);
    }

    public void Dispose() => Directory.Delete(folder, recursive: true);

    internal string Write(string name, byte[] content)
    {
        string path = Path.Combine(folder, name);
        File.WriteAllBytes(path, content);
        return path;
    }
}
