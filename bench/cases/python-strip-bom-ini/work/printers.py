import configparser

conf = configparser.ConfigParser()
with open('printers.ini', encoding='utf-8') as f:
    conf.read_file(f)
with open('list.txt', 'w') as out:
    for name in conf.sections():
        out.write(name + ' ' + conf[name]['host'] + '\n')
